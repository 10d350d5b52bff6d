import { codeSpan } from '../../lib/escape.ts'
import { answerOf, line, small, type Answer, type Part } from '../../slack/messages/answer.ts'
import { typed } from '../../slack/messages/typed.ts'

/** One row of the table of commands, as far as it is told to people. */
export interface CommandRow {
  /** after `/ci`, such as `list` */
  name: string
  /** the slash command that does the same, such as `/ci-list` */
  alias: string | null
  group: string
  /** what may follow the name, such as `[project] [branch]`; empty: nothing */
  usage: string
  /** one short sentence without a full stop: `shows the projects with their last known state` */
  does: string
  /** whole lines, such as `/ci stop acme/web@main` */
  examples: readonly string[]
  who: 'everyone' | 'members' | 'operators' | 'admins'
}

/** The grouped list, or all there is to say about one command (by its name or alias). */
export function answerHelp({ commands, about }: { commands: readonly CommandRow[]; about: string | null }): Answer {
  const wanted = about?.trim().toLowerCase()
  const one = commands.find(({ name, alias }) => name === wanted || alias === wanted || alias === `/${wanted}`)
  return one ? answerOf(aboutOne(one)) : answerOf(allOf(commands, about))
}

/** `/ci stop [project[@branch]]`: how a command is typed. */
export const usageOf = ({ name, usage }: Pick<CommandRow, 'name' | 'usage'>): string =>
  usage === '' ? `/ci ${name}` : `/ci ${name} ${usage}`

function allOf(commands: readonly CommandRow[], about: string | null): Part[] {
  const groups = Map.groupBy(commands, ({ group }) => group)
  return [
    line(
      about === null
        ? ':wave: *Buildline* brings the builds of CI into Slack.'
        : `:mag: *No command* is called ${typed(about)}: these are all.`,
    ),
    ...[...groups].flatMap(([group, rows]) => [
      line(`*${group}*`),
      ...rows.map((command) => line(`• ${codeSpan(usageOf(command))} ${command.does}`)),
    ]),
    small(
      `${typed('/ci help stop')} tells more about one command. In a build's thread, mention Buildline with ${codeSpan('stop')}, ${codeSpan('restart')}, ${codeSpan('status')} or ${codeSpan('why')}.`,
    ),
  ]
}

function aboutOne(command: CommandRow): Part[] {
  const { name, alias, does, examples, who } = command
  return [
    line(`:information_source: *${name}* ${does}`),
    line(`Usage: ${codeSpan(usageOf(command))}${alias === null ? '' : `, or ${codeSpan(alias)}`}`),
    ...(examples.length === 0 ? [] : [line(`Examples: ${examples.map(codeSpan).join(', ')}`)]),
    line(`Who may: ${WHO[who]}`),
  ]
}

const WHO: Record<CommandRow['who'], string> = {
  everyone: 'everyone in this workspace',
  members: 'all full members of this workspace',
  operators: "the operators that Buildline's settings name; if they name none, all full members",
  admins: "the admins that Buildline's settings name; if they name none, this workspace's admins",
}
