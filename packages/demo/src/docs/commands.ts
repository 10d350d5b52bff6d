import type { CommandRow } from '../../../../src/features/help/messages.ts'
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
