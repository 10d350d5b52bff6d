import { setTimeout } from 'node:timers/promises'
import { botSettings } from '../../../sandbox-ci/src/settings.ts'
import { createControl } from '../../../sandbox-ci/src/control.ts'
import type { SandboxCi } from '../../../sandbox-ci/src/server.ts'
import type { StateSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import { CI_BREAKS } from '../../../sandbox-slack/src/panel-state.ts'
import type { CiBreak, PanelButton, PanelProject, PanelService } from '../../../sandbox-slack/src/panel-state.ts'
import { watchRules } from '../demo/rules-watch.ts'
import { askedIn, type Report, type Sent, type Service, type Story } from './service.ts'

/** The sandbox CI service: it has everything that the demo shows. */
export function ciService(ci: SandboxCi): Service {
  const { push, storm, approve, settle, decisions, start, stop, state } = ci
  let bot = ''
  return {
    push,
    storm,
    approve,
    settle,
    decisions,
    start,
    stop,
    state,
    get url() {
      return ci.url
    },
    projects: () => state().projects.map(projectShown),
    reportTests: ({ project, id }, report) => {
      const named = state().projects.find(({ name }) => name === project)
      return reportTo(bot, { build: { project_id: named?.id, build_id: id }, report })
    },
    sent: () => sentBy(ci),
    asked: () => askedIn(ci.calls(), ASKED),
    settings: () => ({ ...botSettings(ci), WEBHOOK_SECRET }),
    deliverTo: (botUrl) => {
      bot = botUrl
      ci.setWebhookUrl(`${botUrl}/webhooks/builds/${WEBHOOK_SECRET}`)
    },
    watchRules: (clock) => watchRules(ci, clock),
    isPolled: false,
    namesAttempts: false,
    story: STORY,
    control: createControl(ci),
    panel: PANEL,
    lookOf: ({ status }) => ({ word: WORDS[status] ?? status, buttons: buttonsFor(status) }),
    isHolding: () => ci.switches().holdDeliveries,
    isOverLimit: () => ci.switches().overLimit,
    break: (how) => breakCi(ci, how),
    broken: () => brokenIn(ci),
  }
}

const WEBHOOK_SECRET = 'demo-webhook-secret'

const REPORT_TRIES_MAX = 20
const REPORT_AGAIN_MS = 500

/** Like a build step: retries while the bot is away, then gives up. */
async function reportTo(bot: string, body: { build: object; report: Report }): Promise<void> {
  const sending = {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Basic ${btoa(`:${WEBHOOK_SECRET}`)}` },
    body: JSON.stringify(body),
  }
  for (let tries = 1; tries <= REPORT_TRIES_MAX; tries++) {
    const answer = await fetch(`${bot}/webhooks/reports`, sending).catch(() => null)
    if (answer?.status === 202) return
    await setTimeout(REPORT_AGAIN_MS)
  }
}

const ASKED = {
  Restart: /^\/api\/v1\/builds\/(\w+)\/restart\.json$/,
  Stop: /^\/v2\/.+\/builds\/([\w-]+)\/stop$/,
}

const projectShown = ({ id, name, type, notification_rules }: StateSnapshot['projects'][number]): PanelProject => ({
  id,
  name,
  type,
  rules: notification_rules,
})

function sentBy(ci: SandboxCi): Sent[] {
  const names = new Map(ci.state().projects.map(({ id, name }) => [id, name]))
  return ci.deliveries().map((delivery) => ({
    ...delivery,
    project: names.get(delivery.projectId) ?? `project ${delivery.projectId}`,
    word: delivery.status,
  }))
}

const STORY: Story = {
  what: 'a sandbox CI service',
  name: 'The CI',
  manual: 'packages/sandbox-ci/README.md',
  push: {
    path: '/projects/acme%2Fweb/push',
    body: { branch: 'main', message: 'My change', committer: 'Ada', outcome: 'error' },
  },
  missed: 'CI repeats what was refused',
  projects: { web: 'acme/web', api: 'acme/api', ios: 'acme/ios' },
  approves: null,
  approval: 'A release of acme/api waits for its approval, gets it, and passes',
  machine: "A build machine of acme/ios breaks: nobody's fault, so nobody is mentioned",
  limit: 'The account is over its monthly limit: one notice that counts, not one message a build',
  why: (id) => `why #${id}`,
  // The project's own rules in CI, which select it.
  everything: '',
  yourTurn: [
    'as Grace, an admin, type `/ci project acme/web` and press Edit: what would change is shown before it is sent',
  ],
}

const PANEL: PanelService = {
  one: 'build',
  many: 'builds',
  ends: [
    { words: 'runs until you end it', push: { outcome: 'none' } },
    { words: 'passes after 8 s', push: { outcome: 'success', ms: 8_000 } },
    { words: 'fails after 8 s', push: { outcome: 'error', ms: 8_000 } },
    { words: 'meets a machine error after 8 s', push: { outcome: 'infrastructure_failure', ms: 8_000 } },
    { words: 'waits 5 s in the queue, then passes', push: { outcome: 'success', waitingMs: 5_000, ms: 8_000 } },
    { words: 'waits for an approval', push: { outcome: 'none', needsApproval: true } },
  ],
  breaks: CI_BREAKS,
  hasNightly: true,
  whileAway:
    'CI repeats what was not taken for about a minute; then it gives up, and you can send it again from its deliveries.',
  pulled: 'CI keeps what it cannot deliver; what the bot had accepted is on its disk.',
  notes:
    'Not counted: builds during which the rules changed, and those whose start was sent again after their end, which looks like a restart.',
  own: 'a CI',
  key: "CI's key",
}

const WORDS: Record<string, string> = {
  initiated: 'running',
  waiting: 'waiting',
  success: 'passed',
  error: 'failed',
  stopped: 'stopped',
  infrastructure_failure: 'machine error',
  ignored: 'not built: over the limit',
  blocked: 'blocked',
}

const ENDINGS: readonly PanelButton[] = [
  { words: 'Pass it', path: 'finish', body: { outcome: 'success' } },
  { words: 'Fail it', path: 'finish', body: { outcome: 'error' } },
  { words: 'Stop it', path: 'stop' },
  { words: 'Machine error', path: 'finish', body: { outcome: 'infrastructure_failure' } },
]
const APPROVE: PanelButton = { words: 'Approve', path: 'approve' }
const AGAIN: PanelButton = { words: 'Restart', path: 'restart' }

function buttonsFor(status: string): readonly PanelButton[] {
  if (status === 'initiated') return ENDINGS
  if (status === 'waiting') return [APPROVE, ...ENDINGS]
  return [AGAIN]
}

const SLOW_MS = 6_000

function breakCi(ci: SandboxCi, how: CiBreak): void {
  ci.clearFaults()
  if (how === 'forgets') return ci.forgetKey()
  ci.rememberKey()
  if (how === 'slow') ci.addFault({ kind: 'slow', ms: SLOW_MS })
  else if (how === 'down') ci.addFault({ kind: 'down' })
}

function brokenIn(ci: SandboxCi): CiBreak | 'other' {
  const [first] = ci.faults()
  if (first === undefined) return ci.state().tokens.length === 0 ? 'forgets' : 'none'
  return first.kind === 'slow' || first.kind === 'down' ? first.kind : 'other'
}
