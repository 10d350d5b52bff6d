import { usageOf, type CommandRow } from '../command.ts'
import { codeSpan } from '../../lib/escape.ts'
import { answerOf, line, small, type Answer, type Part, typed } from '../../slack/messages/answer.ts'

/** The grouped list, or all there is to say about one command (by its name or alias). */
export function answerHelp({ commands, about }: { commands: readonly CommandRow[]; about: string | null }): Answer {
  const wanted = about?.trim().toLowerCase()
  const one = commands.find(({ name, alias }) => name === wanted || alias === wanted || alias === `/${wanted}`)
  return one ? answerOf(aboutOne(one)) : answerOf(allOf(commands, about))
}

function allOf(commands: readonly CommandRow[], about: string | null): Part[] {
  const groups = Map.groupBy(commands, ({ group }) => group)
  return [
    line(
      about === null
        ? ':wave: *Buildline* brings your CI builds into Slack.'
        : `:mag: *No such command*: ${typed(about)}. These are all of them:`,
    ),
    ...[...groups].flatMap(([group, rows]) => [
      line(`*${group}*`),
      ...rows.map((command) => line(`• ${codeSpan(usageOf(command))} ${command.does}`)),
    ]),
    small(
      `${typed('/ci help stop')} explains one command. In a build's thread, mention Buildline with ${codeSpan('stop')}, ${codeSpan('restart')}, ${codeSpan('status')}, ${codeSpan('why')}, ${codeSpan('on it')} or ${codeSpan('let go')}.`,
    ),
  ]
}

function aboutOne(command: CommandRow): Part[] {
  const { name, alias, does, examples, who, notes = [] } = command
  return [
    line(`:information_source: *${name}* ${does}`),
    line(`Usage: ${codeSpan(usageOf(command))}${alias === null ? '' : `, or ${codeSpan(alias)}`}`),
    ...(examples.length === 0 ? [] : [line(`Examples: ${examples.map(codeSpan).join(', ')}`)]),
    ...notes.map((note) => line(note)),
    line(`Who can use it: ${WHO[who]}`),
  ]
}

const WHO: Record<CommandRow['who'], string> = {
  everyone: 'everyone in this workspace',
  members: 'all full members of this workspace',
  operators: "the operators in Buildline's settings, or all full members if none are set",
  admins: "the admins in Buildline's settings, or this workspace's admins if none are set",
}
