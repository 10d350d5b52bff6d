import type { Feature } from '../kit/feature.ts'
import { unknownCommand } from '../kit/run.ts'
import { prefixOf, type Question, usageOf, type CommandRow } from '../kit/command.ts'
import type { Reply } from '../kit/context.ts'
import { codeSpan } from '../../lib/escape.ts'
import { answerOf, line, small, type Answer, typed } from '../../slack/messages/answer.ts'

export const help = (): Feature => ({
  commands: [
    {
      name: 'help',
      alias: null,
      group: 'Help',
      usage: '[command]',
      does: 'lists the commands, or explains one',
      examples: ['/ci help', '/ci help stop'],
      who: 'everyone',
      handle: answerTyped,
    },
  ],
})

/** Explains all commands, or one. Calls nothing else, so that help works when nothing else does. */
async function answerTyped(question: Question): Promise<Reply> {
  const { commands, words, by } = question
  const [about] = words
  if (!about) return { outcome: 'help', answer: answerHelp(commands, prefixOf(by)) }
  const asked = about.text.toLowerCase().replace(/^\/(?:ci-)?/, '')
  const command = commands.find(({ name }) => name === asked)
  return command ? { outcome: 'help', answer: answerHelpAbout(command) } : unknownCommand(question, about.text)
}

/** What people type every day, in the order of the help. */
const EVERYDAY = ['red', 'status', 'restart', 'stop', 'subscribe']
/** What people write about a build in its thread. */
const IN_THREAD = ['stop', 'restart', 'status', 'why', 'on it', 'let go']

/** The everyday commands with what each does up to the first comma or semicolon, then the names of all others by their groups: it fits a phone. */
export function answerHelp(commands: readonly CommandRow[], prefix = '/ci'): Answer {
  const everyday = EVERYDAY.flatMap((name) => commands.find((row) => row.name === name) ?? [])
  const groups = Map.groupBy(
    commands.filter((row) => !everyday.includes(row)),
    ({ group }) => group,
  )
  const inThread = IN_THREAD.filter((words) => commands.some(({ name }) => words.startsWith(name))).map(codeSpan)
  return answerOf([
    line(':wave: *Buildline* brings your CI builds into Slack.'),
    ...everyday.map((row) => line(`• ${codeSpan(`${prefix} ${row.name}`)} ${row.does.split(/[;,]/)[0]}`)),
    ...[...groups].map(([group, rows]) => line(`*${group}*: ${rows.map(({ name }) => codeSpan(name)).join(', ')}`)),
    small(
      `${typed(`${prefix} help subscribe`)} explains one command. In a build's thread, mention Buildline with ${inThread.join(', ')}.`,
    ),
  ])
}

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
  approvers: "the approvers in Buildline's settings, else the operators, or all full members if neither is set",
  admins: "the admins in Buildline's settings, or this workspace's admins if none are set",
}
