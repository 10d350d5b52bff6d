import type { ProjectRef } from '../catalog/outcomes.ts'
import { joined, outside, projectName } from '../slack/messages/build.ts'
import { WORD_CHARS_MAX } from '../slack/messages/limits.ts'

/** `acme/web · Basic`. Markup. */
export const projectLine = ({ name, type }: ProjectRef): string =>
  joined([projectName({ project: name }), typeWord(type)])

/** `Basic`, `Pro`, CI's own word, or null. Markup. */
export function typeWord(type: string | null): string | null {
  if (type === null) return null
  return TYPES.get(type.toLowerCase()) ?? outside(type, WORD_CHARS_MAX)
}

const TYPES = new Map([
  ['basic', 'Basic'],
  ['pro', 'Pro'],
  ['unknown', 'type unknown'],
])

/** What names this project and no other, where CI gave such a name. */
export const nameToChoose = ({ uuid, projectId, name }: ProjectRef): string => uuid ?? projectId ?? name
