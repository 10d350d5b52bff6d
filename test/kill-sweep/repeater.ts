import { setTimeout as sleep } from 'node:timers/promises'
import type { Passage } from './tap.ts'

const AGAIN_MS = 50

const STARTS = ['initiated', 'testing']
const ENDS = ['success', 'error', 'failed', 'stopped', 'infrastructure_failure']

/**
 * Repeats a start that got no answer, but only after the build has ended: the latest possible repetition.
 * CI's own repetitions of everything else come at once, and so do those of a start that was not stored: a start that
 * is first received a minute after the end would be a restart.
 */
export interface Repeater {
  takesOver(passage: Passage): Promise<boolean>
  /** The bot has acknowledged this request. */
  acknowledged(passage: Passage): void
  /** the number of repeated starts, when none is left */
  done(): Promise<number>
}

/**
 * @param url where the newest process listens; null while there is none
 * @param isStored whether the database has a delivery with this body
 */
export function createRepeater(url: () => string | null, isStored: (body: string) => Promise<boolean>): Repeater {
  const held = new Map<string, Passage>()
  const repeating = new Set<Promise<void>>()
  let repeated = 0

  async function repeat({ method, path, body }: Passage): Promise<void> {
    for (;;) {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${url()}${path}`, { method, body, headers }).catch(() => null)
      if (answer?.status === 202) break
      await sleep(AGAIN_MS)
    }
    repeated++
  }

  return {
    async takesOver(passage) {
      const build = buildIn(passage)
      if (build === null || !STARTS.includes(build.status) || !(await isStored(passage.body))) return false
      held.set(build.id, passage)
      return true
    },
    acknowledged(passage) {
      const build = buildIn(passage)
      const start = build && ENDS.includes(build.status) ? held.get(build.id) : undefined
      if (!build || !start) return
      held.delete(build.id)
      const work: Promise<void> = repeat(start).finally(() => repeating.delete(work))
      repeating.add(work)
    },
    async done() {
      while (repeating.size > 0) await Promise.all(repeating)
      return repeated
    },
  }
}

function buildIn({ path, body }: Passage): { id: string; status: string } | null {
  if (!path.startsWith('/webhooks/')) return null
  const { build } = JSON.parse(body) as { build: { build_id: number | string; status: string } }
  return { id: String(build.build_id), status: build.status }
}
