import schemas from '@octokit/webhooks-schemas' with { type: 'json' }
import type { Delivery } from '../../../packages/sandbox-github/src/hooks.ts'
import type { Watch } from '../../../packages/sandbox-github/src/listener.ts'
import { judgeBy } from './judge.ts'
import { createValidator, parsed } from './validator.ts'

/** Keeps what the sandbox GitHub hears and answers. `faults` judges it: one line for each kind of fault. */
export function watchExchanges(): { watch: Watch; faults: () => string[] } {
  // Judged at the end: compiling the schemas would hold up what is tested.
  const heard: Parameters<Watch>[] = []
  return { watch: (...exchange) => void heard.push(exchange), faults: () => [...new Set(heard.flatMap(faultsOf))] }
}

function faultsOf([{ method, path, query, text }, reply]: Parameters<Watch>): string[] {
  const request = { method, path, query, body: text }
  const { ofRequest, ofAnswer } = judgeBy()
  const answered = reply ? ofAnswer({ ...request, status: reply.statusCode, answer: reply.body ?? '' }) : []
  return [...ofRequest(request), ...answered]
}

const ID = 'webhooks'
// The schema of any event refers to all others, and is not needed.
const byCommunity = createValidator(ID, { definitions: schemas.definitions })

/** What a webhook's body has that GitHub does not describe, and the schemas of its community do not know either. */
export function faultsOfDelivery({ event, body }: Pick<Delivery, 'event' | 'body'>): string[] {
  const value = parsed(body) as { action?: string }
  const name = ['webhook', event, ...(value.action === undefined ? [] : [value.action])].join('-').replaceAll('_', '-')
  const definition = `${event}$${value.action ?? 'event'}`
  const described = judgeBy().byName(name, value) ?? [' is not described']
  const known =
    definition in schemas.definitions ? byCommunity(`${ID}#/definitions/${definition}`, value) : [' is not known']
  return [...described.map((fault) => `${name}${fault}`), ...known.map((fault) => `${definition}${fault}`)].filter(
    (fault) => !GAPS.some((gap) => gap.test(fault)),
  )
}

/** What GitHub sends although one of the two does not know it. Each is known to the other. */
const GAPS: readonly RegExp[] = [
  // GitHub describes it for the two other actions.
  /^webhook-workflow-run-in-progress\/workflow_run\/display_title is not described$/,
  // The schemas of the community do not know runs without a branch, or that fail to start.
  /^workflow_run\$\w+\/workflow_run\/head_branch must be string$/,
  /^workflow_run\$completed\/workflow_run\/conclusion must be equal to one of the allowed values$/,
]
