import type { Config } from './config.ts'
import { percentDecoded } from '../lib/escape.ts'

/** Every value that no log, error or message may show. */
export function secretsOf({ slack, ci, webhookSecrets, github, gitlab, database }: Config): string[] {
  const auth = ci.v2?.auth
  const databasePassword = (database.kind === 'postgres' && URL.parse(database.url)?.password) || ''
  const secrets = [
    slack.botToken,
    slack.signingSecret,
    slack.appToken,
    ci.legacy?.apiKey,
    auth?.kind === 'static' ? auth.authorization : auth?.clientSecret,
    databasePassword,
    // An address holds it percent-encoded. The server's errors show it as it is.
    percentDecoded(databasePassword),
    ...webhookSecrets,
    github.token,
    github.app?.privateKey,
    ...github.webhookSecrets,
    gitlab.token,
    ...gitlab.webhookSecrets,
  ]
  return [...new Set(secrets)].filter((secret) => typeof secret === 'string').filter((secret) => secret !== '')
}
