import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../../src/lib/json.ts'

/** One of Slack's samples: `api.auth.test`, `event.AppMentionPayload`. Its values are blank, so `ok` is false. */
export function sampleIn(folder: string, name: string): Record<string, unknown> {
  const sample: unknown = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
  if (!isRecord(sample)) throw new Error(`${name} is no object`)
  return sample
}
