import type { MissingCapability } from '../../domain/cards/capabilities.ts'
import { isOfGate, type Action } from '../../domain/cards/request.ts'
import type { ShownRequest, RequestView, CardView, BuildView } from '../../domain/cards/view.ts'
import { buildNumber, joined, mention, outside } from './build.ts'
import { styleOf, withSourceName } from './words.ts'
import { escapePlain, toLine } from '../../lib/escape.ts'
import { plain, type ActionButton } from './blocks.ts'
import { ACTION_IDS } from './ids.ts'
import {
  BRANCH_CHARS_MAX,
  BUILD_ID_CHARS_MAX,
  CONFIRM_CHARS_MAX,
  cut,
  GATE_CHARS_MAX,
  PROJECT_CHARS_MAX,
} from './limits.ts'
import type { Gate } from '../../domain/builds/build-event.ts'
import { timeIn } from './times.ts'

// Texts about requests to CI. Requesters are mentions: each reader sees the name by their own settings.

/** `Stop requested by @lin`, and the outcome: for a card. Markup. */
export const requestWords = (request: ShownRequest): string => joined([requested(request), stageWords(request)], ', ')

/** `:raised_hand: Stop requested by @lin · Stopped`: the line in the thread. Markup. */
export function requestLine(view: RequestView): string {
  return joined([`${ACTION_SYMBOLS[view.action]} ${requested(view)}`, outcomeWords(view) ?? stageWords(view)])
}

/** `no Stop button: CI did not name the build's uuid`. */
export const missingWords = ({ action, why }: NonNullable<CardView['missing']>): string =>
  `no ${ACTION_WORDS[action]} button: ${MISSING[why]}`

export const ACTION_WORDS: Record<Action, string> = {
  stop: 'Stop',
  restart: 'Restart',
  approve: 'Approve',
  reject: 'Reject',
  play: 'Run',
}

export const ACTION_SYMBOLS: Record<Action, string> = {
  stop: ':raised_hand:',
  restart: ':repeat:',
  approve: ':white_check_mark:',
  reject: ':no_entry_sign:',
  play: ':arrow_forward:',
}

/** Why an action cannot be offered. Cards and all answers use these texts. */
export const MISSING: Record<MissingCapability, string> = {
  'no-github': 'GITHUB_TOKEN is not set',
  'no-gitlab': 'GITLAB_TOKEN is not set',
  'no-v2': "CI's v2 interface is not configured",
  'no-legacy': "CI's legacy interface is not configured",
  'no-build-uuid': "CI did not name the build's uuid",
  'no-build-number': 'CI restarts builds by number, and this one has none',
  'pro-project': 'CI restarts Basic projects only',
  'project-unknown': 'CI does not list this project',
  'not-reviewer': "the owner of Buildline's token may not approve it",
}

const requested = ({ action, by, gate }: ShownRequest): string => {
  const who = mention(by)
  const what = gate === undefined ? '' : ` (${outside(gate, GATE_CHARS_MAX)})`
  return `${ACTION_WORDS[action]}${what} requested${who === '' ? '' : ` by ${who}`}`
}

const outcomeWords = ({ action, outcome, buildId }: RequestView): string | null =>
  outcome && OUTCOMES[action](outcome, buildId)

const OUTCOMES: Record<Action, (outcome: NonNullable<RequestView['outcome']>, buildId: string) => string> = {
  stop: ({ shown: state }) => styleOf(state).label,
  restart: (outcome, buildId) =>
    `attempt ${outcome.attemptNumber}${outcome.buildId === buildId ? '' : ` is ${buildNumber(outcome)}`}`,
  approve: () => 'approved',
  reject: () => 'rejected',
  play: () => 'started',
}

function stageWords(request: ShownRequest): string | null {
  const words = stageOfCi(request)
  return words && withSourceName(request.source ?? 'ci', words)
}

function stageOfCi({ stage, code }: ShownRequest): string | null {
  switch (stage) {
    case 'asked':
    case 'confirmed':
      return null
    case 'refused':
      return UNREACHED_CODES.has(code) ? UNREACHED : `CI refused${why(REFUSED, code)}`
    case 'unclear':
      return 'not clear yet whether CI received it'
    case 'unconfirmed':
      return joined([`CI has not confirmed it${why(UNCONFIRMED, code)}`, 'open the build to see'])
  }
}

const why = (reasons: Readonly<Record<string, string>>, code: string | null): string => {
  const words = code === null ? undefined : reasons[code]
  return words === undefined ? '' : `: ${words}`
}

const UNREACHED_CODES: ReadonlySet<string | null> = new Set(['unreachable', 'certificate', 'timeout'])
const UNREACHED = 'CI could not be reached, and nothing was done'

const TOO_LATE = 'it is probably too late for that'

const REFUSED: Record<string, string> = {
  'bad-request': TOO_LATE,
  'not-found': TOO_LATE,
  unauthorized: "it does not accept Buildline's credentials",
  forbidden: "Buildline's credentials lack the right",
  'rate-limited': 'there were too many requests',
}

const UNCONFIRMED: Record<string, string> = {
  'still-running': 'it says the build is still running',
  'not-restarted': 'it shows no new attempt',
  'not-decided': 'it shows no such decision',
  others: 'somebody else was faster',
  'still-waiting': 'it says the build is still waiting for that',
}

export function actionButton(action: Action, ref: string, build: ActedOn): ActionButton {
  // These open a form first.
  const text = plain(isOfGate(action) ? `${ACTION_WORDS[action]}…` : ACTION_WORDS[action])
  return { type: 'button', action_id: ACTION_IDS[action], value: ref, text, ...LOOKS[action]?.(build) }
}

type ActedOn = Pick<BuildView, 'project' | 'buildId' | 'branch'> & Pick<CardView, 'unconfirmed'>

/** How buttons look that are not plain, and what Slack asks first. */
const LOOKS: Partial<Record<Action, (build: ActedOn) => Pick<ActionButton, 'style' | 'confirm'>>> = {
  // Stopping loses work.
  stop: (build) => ({
    style: 'danger',
    confirm: {
      title: plain('Stop this build?'),
      text: plain(cut(whatStops(build), CONFIRM_CHARS_MAX)),
      confirm: plain('Stop it'),
      deny: plain('Let it run'),
      style: 'danger',
    },
  }),
  // Their forms ask once more.
  approve: () => ({ style: 'primary' }),
  reject: () => ({ style: 'danger' }),
}

function whatStops({ project, buildId, branch, unconfirmed }: ActedOn): string {
  const on = branch === null ? '' : ` on ${shown(branch, BRANCH_CHARS_MAX)}`
  const name = `${shown(project, PROJECT_CHARS_MAX)} #${shown(buildId, BUILD_ID_CHARS_MAX)}${on}`
  // CI does not show this project's builds, so only the person can tell whether this is the build they mean.
  const uuid = unconfirmed === null ? '' : ` CI stops the build ${unconfirmed}.`
  return `${name} stops where it is. What it has done so far is lost.${uuid}`
}

const shown = (text: string, charsMax: number): string => escapePlain(cut(toLine(text), charsMax))

// What a waiting build waits for, in words. Names are outside text.

const GATES_SHOWN = 3
const REVIEWERS_SHOWN = 5

/** `waits for production: @ada or team/ops`, as a card and its form say it; null without gates. Markup. */
export function gatesLine(gates: readonly Gate[], shownAt: number | null): string | null {
  if (gates.length === 0) return null
  if (gates.some(({ kind }) => kind === 'run')) return "waits for a maintainer to let this contributor's run begin"
  const more = gates.length - GATES_SHOWN
  const words = gates.slice(0, GATES_SHOWN).map((gate) => gateWords(gate, shownAt))
  return `waits for ${joined([...words, more > 0 ? `${more} more` : null], ', ')}`
}

function gateWords({ name, reviewers, until }: Gate, shownAt: number | null): string {
  const named = reviewers.slice(0, REVIEWERS_SHOWN).map((one) => outside(one, GATE_CHARS_MAX))
  const more = reviewers.length - named.length
  const who = [...named, ...(more > 0 ? [`${more} more`] : [])].join(' or ')
  const time = until === null ? null : timeIn(until, shownAt)
  const timer = time === null ? '' : ` (timer until ${time})`
  return `${outside(name, GATE_CHARS_MAX)}${who === '' ? '' : `: ${who}`}${timer}`
}
