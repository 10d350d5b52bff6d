import { ROOT_COMMAND } from '../../../../src/features/features.ts'
import type { CommandRow } from '../../../../src/features/kit/command.ts'
import type { Sample } from '../samples/sample.ts'
import { samplesOf } from '../samples/samples.ts'
import { answerLines, asRead } from './cell.ts'

/** The page on the commands, in Markdown: made from the code, so that it cannot say anything else. */
export async function commandDocs(commands: readonly CommandRow[]): Promise<string> {
  const samples = await samplesOf(commands)
  const sections = commands.map((command) =>
    section(
      command,
      samples.find((sample) => sample.command === command.name),
    ),
  )
  return `${[HEAD, commandTable(commands), ...sections].join('\n\n')}\n`
}

const HEAD = `# Commands

\`npm run docs\` writes this page from the code. Only you see an answer; what others should see is posted in the build's
thread or in the channel. \`npm run gallery\` shows every answer with its buttons.

- A **project** is named by its full name, a part that no other name has, its uuid or its legacy id.
- A **build** is \`#512\`, or \`#3f2a1b4c\` where CI has no number for it, as its card says; \`acme/web@main\` (the last build of a
  branch); its address in CI; or its uuid.
- In a build's thread, where Slack runs no commands, mention the bot: \`@Buildline stop\`, \`restart\`, \`status\`,
  \`why\`, \`on it 30m\` or \`let go\`.
- \`/ci\` alone shows what is red and what is running in this channel, with buttons.`

/** Lines of the example that one section shows. */
const SHOWN_LINES = 4

function section(command: CommandRow, sample: Sample | undefined): string {
  const { name, alias, does, examples, who, notes = [] } = command
  const answer = sample ? answerLines(sample.answer) : []
  const shown = [...answer.slice(0, SHOWN_LINES), ...(answer.length > SHOWN_LINES ? ['…'] : [])]
  return [
    `## \`/ci ${name}\``,
    `${capital(does)}. ${WHO[who]}${alias === null ? '' : ` Also: \`${alias}\`.`} For example: ${listed(examples)}.`,
    notes.map((note) => `- ${asRead(note)}`).join('\n'),
    shown.length === 0 ? '' : `> ${shown.join('<br>')}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

const WHO: Record<CommandRow['who'], string> = {
  everyone: 'For everyone.',
  members: 'For full members.',
  operators: 'For operators.',
  approvers: 'For approvers (`CI_APPROVERS`, by default the operators).',
  admins: 'For admins.',
}

const listed = (examples: readonly string[]): string => examples.map((example) => `\`${example}\``).join(', ')

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** What each command does, in a line each. */
const commandTable = (commands: readonly CommandRow[]): string =>
  [
    '| command | separate slash command | what it does |',
    '|---|---|---|',
    ...commands.map(({ name, usage, alias, does }) => {
      const typed = `/ci ${[name, usage].filter(Boolean).join(' ')}`
      return `| \`${typed.replaceAll('|', '\\|')}\` | ${alias === null ? '' : `\`${alias}\``} | ${does} |`
    }),
  ].join('\n')

/** The manifest's slash commands. */
export function slashCommands(commands: readonly CommandRow[]): string {
  const names = commands.map(({ name }) => name)
  const own = commands.flatMap(({ alias, does, usage }) =>
    alias === null ? [] : [slashCommand(alias, capital(does), usage)],
  )
  const root = slashCommand(ROOT_COMMAND, `Builds - ${names.join(', ')}`, names.join(' | '), true)
  return `  slash_commands:\n${[root, ...own].join('')}`
}

const slashCommand = (command: string, description: string, usageHint: string, escapes = false): string =>
  [
    `    - command: ${command}`,
    `      description: ${description}`,
    `      usage_hint: ${/^[[{]/.test(usageHint) ? `'${usageHint}'` : usageHint}`,
    ...(escapes ? ['      # `@grace` arrives as a user id, and not as a name that two people may have.'] : []),
    `      should_escape: ${escapes}`,
    '',
  ].join('\n')
