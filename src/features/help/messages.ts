import { usageOf, type CommandRow } from '../command.ts'
import { codeSpan } from '../../lib/escape.ts'
import { answerOf, line, small, type Answer, typed } from '../../slack/messages/answer.ts'

/** All commands, grouped. */
export function answerHelp(commands: readonly CommandRow[]): Answer {
  const groups = Map.groupBy(commands, ({ group }) => group)
  return answerOf([
    line(':wave: *Buildline* brings your CI builds into Slack.'),
    ...[...groups].flatMap(([group, rows]) => [
      line(`*${group}*`),
      ...rows.map((command) => line(`• ${codeSpan(usageOf(command))} ${command.does}`)),
    ]),
    small(
      `${typed('/ci help stop')} explains one command. In a build's thread, mention Buildline with ${codeSpan('stop')}, ${codeSpan('restart')}, ${codeSpan('status')}, ${codeSpan('why')}, ${codeSpan('on it')} or ${codeSpan('let go')}.`,
    ),
  ])
}

/** All there is to say about one command. */
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
