import { ROOT_COMMAND } from '../../../../src/features/features.ts'
import type { CommandRow } from '../../../../src/features/command.ts'
import { samplesOf, type Sample } from '../samples/samples.ts'
import { answerCell, cell } from './cell.ts'

/** The page on the commands, in Markdown: made from the code, so that it cannot say anything else. */
export function commandDocs(commands: readonly CommandRow[]): string {
  const samples = samplesOf(commands)
  const parts = [
    HEAD,
    ...commands.map((command) => section(command, samples)),
    `## Any command\n\n${table(samples.filter(({ command }) => command === 'any'))}`,
  ]
  return `${parts.join('\n\n')}\n`
}

const HEAD = `# Commands, and everything they answer

Generated from the code: \`npm run docs\` writes this page anew, and a test holds it against the code. The examples are
project \`acme/web\`, branch \`main\`, build #512; times are shown to each reader in their own zone. Buttons stand in
brackets. Answers are seen by the asker alone; what others should see goes into the build's thread.`

const section = (command: CommandRow, samples: readonly Sample[]): string => `## \`/ci ${command.name}\`

${command.name} ${command.does}. Usage: \`/ci ${[command.name, command.usage].filter(Boolean).join(' ')}\`${
  command.alias === null ? '' : `, or \`${command.alias}\``
}. Who may: ${command.who}.

${table(samples.filter((sample) => sample.command === command.name))}`

const table = (samples: readonly Sample[]): string =>
  [
    '| when | answer |',
    '|---|---|',
    ...samples.map(({ when, answer }) => `| ${cell(when)} | ${answerCell(answer)} |`),
  ].join('\n')

/** The README's short table. */
export const commandTable = (commands: readonly CommandRow[]): string =>
  [
    '| command | of its own | what it does |',
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
    alias === null ? [] : [slashCommand(alias, does.charAt(0).toUpperCase() + does.slice(1), usage)],
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
