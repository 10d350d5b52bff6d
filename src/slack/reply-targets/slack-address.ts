/**
 * Whether an address that came with an ask is one of Slack's own: what we answer is for nobody else.
 * @param apiUrl the Web API that we use, which gets our token anyhow; in tests it is on another host than Slack's
 */
export function isSlackAddress(url: string, apiUrl: string): boolean {
  if (!URL.canParse(url)) return false
  const { origin } = new URL(url)
  return RESPONSE_ORIGINS.has(origin) || origin === new URL(apiUrl).origin
}

const RESPONSE_ORIGINS: ReadonlySet<string> = new Set(['https://hooks.slack.com', 'https://hooks.slack-gov.com'])
