import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { listOf, objectOf } from './json.ts'
import type { Json } from './json.ts'

/** A command and what may follow it. */
export interface CommandWords {
  /** `/ci`, or with its first word `/ci stop` */
  command: string
  description: string
  usage: string
}

/** What the app has declared to Slack: here, as there, by its manifest. */
export interface AppWords {
  commands: (CommandWords & { isEscaped: boolean })[]
  shortcuts: { name: string; type: string; callbackId: string }[]
  /** whether people cannot write to the app directly */
  isReadOnly: boolean
}

/** An app's manifest, where there is one in the folder that the sandbox is started in. */
const MANIFEST = 'manifest.yml'

/** Reads the manifest; `hints` are told beside its commands. */
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
