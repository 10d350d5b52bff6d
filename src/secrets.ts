import type { Config } from './config.ts'

/** Every value that no log, error or message may show. */
export function secretsOf({ slack, ci, webhookSecrets, github, gitlab, database }: Config): string[] {
  const auth = ci.v2?.auth
  const databasePassword =
    database.kind === 'postgres' && URL.canParse(database.url) ? new URL(database.url).password : null
  const secrets = [
    slack.botToken,
    slack.signingSecret,
    slack.appToken,
    ci.legacy?.apiKey,
    auth?.kind === 'static' ? auth.authorization : auth?.clientSecret,
    databasePassword,
    ...webhookSecrets,
    github.token,
    github.app?.privateKey,
    ...github.webhookSecrets,
    gitlab.token,
    ...gitlab.webhookSecrets,
  ]
  return secrets.filter((secret) => typeof secret === 'string').filter((secret) => secret !== '')
}
