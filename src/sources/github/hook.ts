import { fieldOf, listOf, textOf } from '../../domain/raw-values.ts'
import { ownHook, type Hook } from '../hook.ts'

/** The state of a repository's webhook. Source: GitHub REST API, "Repository webhooks". */
export const githubHook = (hooks: readonly unknown[]): Hook =>
  ownHook(hooks, '/webhooks/github', {
    addressOf: ({ config }) => fieldOf(config, 'url'),
    stateOf({ active, events, config, last_response: last }) {
      if (active === false) return { state: 'off' }
      if (!['workflow_run', '*'].some((event) => listOf(events).includes(event))) return { state: 'no-events' }
      return fieldOf(config, 'content_type') === 'json' ? afterAnswer(last) : { state: 'form' }
    },
  })

/** @param last `{ code: null, status: 'unused', message: null }` if GitHub has sent nothing yet */
function afterAnswer(last: unknown): Hook {
  const [code, status, message] = ['code', 'status', 'message'].map((name) => textOf(fieldOf(last, name)))
  const isTaken = code ? /^2\d\d$/.test(code) : !status || status === 'unused' || status === 'active'
  return isTaken ? { state: 'fine' } : { state: 'failing', said: [code, message ?? status].filter(Boolean).join(' ') }
}
