// What the doctor, the log and /readyz say in the same words. Nothing is loaded for them: the start says them too.

/** How a place shows what is typed as it is. */
type Code = (text: string) => string

const plain: Code = (text) => text

export const nobodyFollows = (code: Code = plain): { what: string; remedy: string } => ({
  what: 'No channel follows anything, so nobody is told.',
  remedy: `Type ${code('/ci subscribe')} in a channel, or set ${code('DEFAULT_CHANNEL')} or ${code('SUBSCRIPTIONS_FILE')}.`,
})

export const appTokenRemedy = (code: Code = plain): string =>
  `Make an app-level token with ${code('connections:write')} under Basic Information in the app's settings in Slack, set it as ${code('SLACK_APP_TOKEN')}, and start Buildline again.`

/** `Slack refuses SLACK_APP_TOKEN (invalid_auth): …` */
export const appTokenRefused = (code: string): string =>
  `Slack refuses SLACK_APP_TOKEN (${code}): no command, click or mention arrives. ${appTokenRemedy()}`

export const slackUnreached = (code: string): string =>
  `Slack cannot be reached (${code}); what is to be told waits until it can.`

export const noSocket = (code: string): string =>
  `No Socket Mode connection to Slack stands (${code}): no command, click or mention arrives until one does.`
