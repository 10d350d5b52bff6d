import { outside, joined, mention } from '../../slack/messages/build.ts'
import { codeSpan, toLine } from '../../lib/escape.ts'
import { BRANCH_CHARS_MAX, BUILD_ID_CHARS_MAX, cut, PROJECT_CHARS_MAX } from '../../slack/messages/limits.ts'
import { closedWords, followedProject } from '../../slack/messages/subscription.ts'
import { dayTime } from '../../slack/messages/times.ts'
import type { AdminState, AuditLine, PausedChannel } from './outcomes.ts'
import type { Connection } from '../../sources/ci-service/connections.ts'
import { line, small, type Part } from '../../slack/messages/answer.ts'
import { troubleWords } from '../codes.ts'
import { typed } from '../../slack/messages/typed.ts'
import { listed } from './list-view.ts'

const DELIVERIES_MAX = 15
const PAUSED_MAX = 10
const AUDIT_MAX = 10
const FOLLOWS_MAX = 3

/** What only admins see. */
export const adminSections = ({ connections, deliveries, paused, audit }: AdminState): Part[][] => [
  [
    line(':electric_plug: *CI connections*'),
    ...connections.map((one) => line(connectionLine(one))),
    small(`Everything that can be misconfigured: ${typed('/ci doctor')}`),
  ],
  [
    line(':inbox_tray: *Last heard of*'),
    ...(deliveries.shown.length === 0 ? [line('Nothing was delivered yet.')] : []),
    ...listed(deliveries, DELIVERIES_MAX, ({ project, at }) => line(`• ${projectWords(project)} · ${timeWords(at)}`)),
  ],
  [
    line(':mute: *Paused channels*'),
    ...(paused.shown.length === 0 ? [line('None: every channel can be told.')] : []),
    ...listed(paused, PAUSED_MAX, (one) => line(pausedLine(one))),
  ],
  [
    line(':scroll: *Last asked of CI*'),
    ...(audit.length === 0 ? [line('Nothing yet.')] : []),
    ...audit.slice(0, AUDIT_MAX).map((one) => line(auditWords(one))),
    small(audit.length === 0 ? '' : 'All of it: `npm run buildline -- audit`, where the bot runs.'),
  ],
]

const NAMES: Record<Connection['name'], string> = { v2: 'v2 interface', legacy: 'Legacy interface', site: 'Site' }

function connectionLine({ name, isConfigured, readAt, trouble }: Connection): string {
  if (!isConfigured) return `:black_square_for_stop: ${NAMES[name]}: not set up`
  const read = readAt === null ? 'not asked yet' : `last answered ${timeWords(readAt)}`
  if (trouble === null) return `${readAt === null ? ':grey_question:' : ':white_check_mark:'} ${NAMES[name]}: ${read}`
  return `:x: ${NAMES[name]}: ${joined([troubleWords(trouble).why, readAt === null ? null : read])}`
}

function pausedLine({ channel, code, at, follows }: PausedChannel): string {
  const names = follows?.slice(0, FOLLOWS_MAX).map(({ subscription }) => followedProject(subscription)) ?? []
  const told = names.length > 0 ? `follows ${names.join(', ')}` : null
  return `• ${joined([`<#${channel}>: ${closedWords(code).what}`, `since ${timeWords(at)}`, told])}`
}

const DEEDS: Record<AuditLine['action'], string> = {
  stop: 'stop',
  restart: 'restart',
  'create-project': 'create',
  'edit-project': 'edit',
  'reset-aes-key': 'new AES key of',
}

const STATES: Record<AuditLine['state'], string> = {
  calling: 'under way',
  accepted: 'accepted',
  unclear: 'unclear',
  confirmed: 'done',
  refused: 'refused',
  unconfirmed: 'not confirmed',
}

function auditWords({ at, by, action, project, buildId, branch, state }: AuditLine): string {
  const build = buildId === null ? '' : ` #${outside(buildId, BUILD_ID_CHARS_MAX)}`
  const on = branch === null ? '' : ` on ${codeSpan(cut(toLine(branch), BRANCH_CHARS_MAX)) || '(no name)'}`
  const what = `${DEEDS[action]} ${projectWords(project)}${build}${on}`
  return `• ${joined([timeWords(at), mention(by) || 'Somebody', what, STATES[state]])}`
}

const projectWords = (project: string): string => outside(project, PROJECT_CHARS_MAX) || '(no name)'

const timeWords = (at: number): string => dayTime(at) ?? 'at a time unknown'
