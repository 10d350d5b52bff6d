import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { listOf, objectOf } from './json.ts'
import type { Json } from './json.ts'

/** A command with its description and usage. */
export interface CommandWords {
  /** such as `/ci`, or `/ci stop` with its first word */
  command: string
  description: string
  usage: string
}

/** What the app's manifest declares. */
export interface AppWords {
  commands: (CommandWords & { isEscaped: boolean })[]
  shortcuts: { name: string; type: string; callbackId: string }[]
  /** whether people cannot write direct messages to the app */
  isReadOnly: boolean
}

/** The app's manifest, in the folder that the sandbox is started in. It may be missing. */
const MANIFEST = 'manifest.yml'

/** Reads the manifest. Adds `hints` to its commands. */
export function readAppWords(hints: readonly CommandWords[] = []): AppWords {
  const features = objectOf(objectOf(existsSync(MANIFEST) ? parse(readFileSync(MANIFEST, 'utf8')) : {})['features'])
  return {
    commands: [
      ...listOf(features['slash_commands']).map(toCommand),
      ...hints.map((one) => ({ ...one, isEscaped: false })),
    ],
    shortcuts: listOf(features['shortcuts']).map(toShortcut),
    isReadOnly: objectOf(features['app_home'])['messages_tab_read_only_enabled'] === true,
  }
}

const toCommand = ({ command, description, usage_hint: usage = '', should_escape: isEscaped }: Json) => ({
  command: String(command),
  description: String(description),
  usage: String(usage),
  isEscaped: isEscaped === true,
})

const toShortcut = ({ name, type, callback_id: callbackId }: Json) => ({
  name: String(name),
  type: String(type),
  callbackId: String(callbackId),
})
