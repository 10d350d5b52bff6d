import { fieldOf, listOf, textOf } from '../../lib/raw-values.ts'

/** The path of Buildline's webhook. The host is not compared: Buildline may be behind a proxy. */
const OUR_PATH = /\/webhooks\/builds(?:\/[^/]*)?\/?$/

/** The notification rules of a project whose address has Buildline's path, with that address. It contains the secret. */
export const ourRules = (raw: Record<string, unknown>): { rule: unknown; url: URL }[] =>
  listOf(fieldOf(raw, 'notification_rules')).flatMap((rule) => {
    const options = fieldOf(rule, 'options')
    const address = textOf(fieldOf(options, 'url')) ?? textOf(fieldOf(fieldOf(options, 'webhook'), 'url'))
    const url = address === null ? null : URL.parse(address)
    return url && OUR_PATH.test(url.pathname) ? [{ rule, url }] : []
  })
