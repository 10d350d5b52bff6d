import { expect, test } from 'vitest'
import type { Places } from '../../support/stores.ts'
import { runAside } from '../aside.ts'
import { waiting } from '../given.ts'

/** Enough to kill the process in full flow. */
const ACKNOWLEDGED_MIN = 200

export function crashClaims(places: () => Places): void {
  test('a process that is killed in full flow loses nothing it had acknowledged, and leaves nothing half written', async () => {
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
