/** The app's installation: its tokens and what they may do. */
export interface Grant {
  token: string
  /** the app-level token, for Socket Mode alone */
  appToken: string
  scopes: Set<string>
  isRevoked: boolean
}
