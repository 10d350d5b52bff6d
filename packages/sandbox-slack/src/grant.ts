/** The app's installation: its tokens and scopes. */
export interface Grant {
  token: string
  /** the app-level token, only for Socket Mode */
  appToken: string
  scopes: Set<string>
  isRevoked: boolean
}
