import { expect, test } from 'vitest'
import type { Places } from '../../support/stores.ts'
import { runAside } from '../aside.ts'
import { waiting } from '../given.ts'

/** The process is killed after this many acknowledged builds, while it keeps recording. */
const ACKNOWLEDGED_MIN = 200

export function crashClaims(places: () => Places): void {
  test('a process that is killed under load loses nothing that it acknowledged, and leaves nothing incomplete', async () => {
    await using place = await places().open()
    const process = runAside('record', place.url)
    const acknowledged: string[] = []
    for await (const build of process.lines) {
      acknowledged.push(build)
      if (acknowledged.length === ACKNOWLEDGED_MIN) process.kill()
    }
    expect(await process.ended).toEqual({ code: null, error: '' })
    const buildEvents = await waiting(place.another().read)
    const kept = new Set<string>(buildEvents.map(({ buildId }) => buildId))
    expect(acknowledged.length).toBeGreaterThanOrEqual(ACKNOWLEDGED_MIN)
    expect(acknowledged.filter((build) => !kept.has(build))).toEqual([])
    expect(buildEvents).toHaveLength(kept.size)
    const bodies = (await place.sql('select body from delivery')).map(({ body }) => String(body))
    expect(new Set(bodies)).toEqual(kept)
    expect(bodies).toHaveLength(kept.size)
  })
}
