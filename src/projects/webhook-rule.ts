import type { Project } from '../domain/ci-project/project.ts'
import type { Uuid } from '../domain/ids.ts'
import { EVERY_BUILD_STATUS, type RuleInput } from '../domain/rules/rule.ts'
import { percentDecoded } from '../lib/escape.ts'
import { ourRules } from '../sources/ci-service/check-rule.ts'
import type { ClientV2 } from '../sources/ci-service/client-v2.ts'
import { presentedSecret } from '../sources/secret-path.ts'
import { createSecretCheck } from '../sources/endpoint.ts'
import { ciFailureOf, type CiFailure } from './outcomes.ts'

interface WebhookRuleDeps {
  v2: Pick<ClientV2, 'listProjects'> | null
  webhookSecrets: readonly string[]
}

/** The webhook rule that a project lacks; `known`: it lacks none; `no-address`: Buildline's own address is not known. */
export type WebhookRuleOutcome =
  | { kind: 'rule'; rule: RuleInput }
  | { kind: 'known'; project: string }
  | { kind: 'no-address' }
  | { kind: 'no-v2' }
  | CiFailure

/**
 * The rule that a project needs to send Buildline everything. The bot does not know its own address, so it is taken
 * from other projects' rules. `known`: the project has a rule with our secret; `no-address`: no project has one.
 */
export async function webhookRuleFor(deps: WebhookRuleDeps, uuid: Uuid): Promise<WebhookRuleOutcome> {
  if (!deps.v2) return { kind: 'no-v2' }
  try {
    const { projects } = await deps.v2.listProjects({})
    const isOurs = hasOurSecret(deps)
    const own = projects.find((project) => project.uuid === uuid)
    if (own && ourAddress([own], isOurs)) return { kind: 'known', project: own.name }
    const address = ourAddress(projects, isOurs)
    return address ? { kind: 'rule', rule: ruleTo(address) } : { kind: 'no-address' }
  } catch (error) {
    return ciFailureOf(error)
  }
}

const ruleTo = ({ href }: URL): RuleInput => ({
  notifier: 'webhook',
  target: null,
  branch: null,
  branchMatch: null,
  events: EVERY_BUILD_STATUS,
  options: { url: href },
})

/** The address that most rules with one of our secrets use. It contains the secret. Null: no rule has one. */
export function ourAddress(projects: readonly Project[], isOurs: IsOurs): URL | null {
  const urls = projects.flatMap(({ raw }) => ourRules(raw)).map(({ url }) => url)
  const same = Map.groupBy(urls.filter(isOurs), ({ href }) => href)
  return [...same.values()].sort((a, b) => b.length - a.length)[0]?.[0] ?? null
}

export type IsOurs = (webhook: URL) => boolean

/** Does an address carry one of our secrets, in any of the places where the endpoint looks for it? */
export function hasOurSecret({ webhookSecrets }: Pick<WebhookRuleDeps, 'webhookSecrets'>): IsOurs {
  const isSecret = createSecretCheck(webhookSecrets)
  return (webhook) => {
    const { username, password } = webhook
    const basic = Buffer.from(`${percentDecoded(username)}:${percentDecoded(password)}`).toString('base64')
    return isSecret(presentedSecret('builds', webhook, password === '' ? undefined : `Basic ${basic}`))
  }
}
