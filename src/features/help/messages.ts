import { BUILD_USAGE, usageOf, type CommandRow } from '../kit/command.ts'
import { codeSpan } from '../../lib/escape.ts'
import { answerOf, line, small, type Answer, typed } from '../../slack/messages/answer.ts'

/** What people type every day. */
const EVERYDAY: ReadonlySet<string> = new Set(['red', 'status', 'on', 'restart', 'subscribe'])

const FIRST = 'Every day'

const placeOf = (group: string): number => (group === FIRST ? 0 : group === 'Help' ? 2 : 1)

/** The everyday commands, then all others by their groups. */
export function answerHelp(commands: readonly CommandRow[], prefix = '/ci'): Answer {
  const groups = Map.groupBy(commands, ({ name, group }) => (EVERYDAY.has(name) ? FIRST : group))
  const all = [...groups].toSorted(([a], [b]) => placeOf(a) - placeOf(b))
  return answerOf([
    line(':wave: *Buildline* brings your CI builds into Slack.'),
    ...all.flatMap(([group, rows]) => [line(`*${group}*`), ...rows.map((row) => line(briefly(row, prefix)))]),
    small(`A \`build\` is ${BUILD_NAMES}.`),
    small(
      `${typed(`${prefix} help stop`)} explains one command. In a build's thread, mention Buildline with ${codeSpan('stop')}, ${codeSpan('restart')}, ${codeSpan('status')}, ${codeSpan('why')}, ${codeSpan('on it')} or ${codeSpan('let go')}.`,
    ),
  ])
}

/** • `/ci stop [build]` stops a running build */
const briefly = (row: CommandRow, prefix: string): string =>
  `• ${codeSpan(usageOf({ ...row, usage: row.usage.replace(BUILD_USAGE, '[build]') }, prefix))} ${row.does}`

const BUILD_NAMES = BUILD_USAGE.slice(1, -1)
  .split(' | ')
  .map((name) => codeSpan(name))
  .join(', ')

/** The full help of one command. */
export function answerHelpAbout(command: CommandRow): Answer {
  const { name, alias, does, examples, who, notes = [] } = command
  return answerOf([
    line(`:information_source: *${name}* ${does}`),
    line(`Usage: ${codeSpan(usageOf(command))}${alias === null ? '' : `, or ${codeSpan(alias)}`}`),
    ...(examples.length === 0 ? [] : [line(`Examples: ${examples.map(codeSpan).join(', ')}`)]),
    ...notes.map((note) => line(note)),
    line(`Who can use it: ${WHO[who]}`),
  ])
}

const WHO: Record<CommandRow['who'], string> = {
  everyone: 'everyone in this workspace',
  members: 'all full members of this workspace',
  operators: "the operators in Buildline's settings, or all full members if none are set",
  admins: "the admins in Buildline's settings, or this workspace's admins if none are set",
}
