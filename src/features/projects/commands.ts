import type { FieldFault } from '../../domain/project.ts'
import { listOf, textOf } from '../../domain/raw-values.ts'
import { MASK, withoutCredentials } from '../../domain/secret-fields.ts'

/** What stands for a line break within one command. */
export const BREAK = ' ⏎ '

/** A project's setup commands as they can be shown and typed back: a line each, credentials masked. */
export const commandLines = (raw: Readonly<Record<string, unknown>>): string[] => commandsOf(raw).map(lineOf)

/**
 * The commands that somebody meant with these lines: one that was left as it was shown means the command as it is. A line
 * with a mask that stands for nothing is a fault.
 */
export function commandsOfLines(
  lines: readonly string[],
  raw: Readonly<Record<string, unknown>>,
): { commands: string[]; faults: FieldFault[] } {
  const left = commandsOf(raw).map((command) => ({ command, line: lineOf(command) }))
  const faults: FieldFault[] = []
  const commands = lines.map((line, at) => {
    const kept = left.findIndex((one) => one.line === line)
    const [known] = kept < 0 ? [] : left.splice(kept, 1)
    const isBroken = !known && (line.includes(MASK) || line.includes(BREAK.trim()))
    if (isBroken) faults.push({ field: `setup_commands[${at}]`, reason: 'leave it as it was, or type all of it' })
    return known?.command ?? line
  })
  return { commands, faults }
}

const commandsOf = (raw: Readonly<Record<string, unknown>>): string[] =>
  listOf(raw['setup_commands']).flatMap((command) => textOf(command) ?? [])

const lineOf = (command: string): string =>
  withoutCredentials(command)
    .trim()
    .split(/\r\n|[\r\n]/)
    .join(BREAK)
