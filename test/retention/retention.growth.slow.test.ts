import { revisionKey } from '../../src/domain/builds/build-event.ts'
import { expect, test } from 'vitest'
import { idOrder } from '../../src/domain/ids.ts'
import { revisionSubject } from '../../src/domain/builds/revision.ts'
import type { Tx } from '../../src/store/store.ts'
import { BUILDS } from '../alerts/stage.ts'
import { claimed, decided } from '../store/given.ts'
import { buildId, messageTs, projectId, story, T0, WEB } from '../support/build-events.ts'
import { commitOf, DAY, openStage, pruneNow, type Stage } from './stage.ts'

/** A small database with daily retention, which shows in weeks what a large one shows in months. */
const RETENTION_DAYS = 15
const BUILDS_A_DAY = 8
const DAYS = 180

/** How much larger the file may be at the end than soon after its first day was removed. */
const GROWTH_MAX = 1.1

test('the file stops growing over half a year of equally busy days', { timeout: 120_000 }, async () => {
  await using stage = await openStage()
  const empty = pagesOf(stage)
  const pages: number[] = []
  for (let day = 0; day < DAYS; day++) {
    await stage.store.write((tx) => builtOn(tx, day))
    await stage.clock.advance(T0 + (day + 1) * DAY - stage.clock.now())
    await pruneNow(stage, { retentionDays: RETENTION_DAYS })
    pages.push(pagesOf(stage))
  }
  // Freed pages are reused, so that no vacuum is needed.
  const settled = pages[RETENTION_DAYS * 2]!
  expect(pages.at(-1)! / settled).toBeLessThan(GROWTH_MAX)
  // And the file did grow before, so the check is meaningful.
  expect((settled - empty) / (pages[2]! - empty)).toBeGreaterThan(3)
})

/** The rows of a day, written as the endpoints and the reconciler do. */
async function builtOn(tx: Tx, day: number): Promise<void> {
  const at = T0 + day * DAY
  for (let i = 0; i < BUILDS_A_DAY; i++) {
    const id = String(day * BUILDS_A_DAY + i + 1)
    const where = { project: WEB, build: id, commit: commitOf(id), branch: i % 3 === 0 ? 'main' : `topic-${i}` }
    const rawStatus = (day + i) % 4 === 0 ? 'error' : 'success'
    const [began, ended] = story({ word: 'initiated', ...where }, { word: rawStatus, ...where })
    const key = revisionKey(ended!)
    const card = { subject: revisionSubject(key, 1), channel: BUILDS }
    await tx.ensureCard({ ...card, quiet: false, mention: false })
    for (const seen of [began!, ended!]) {
      const seq = await tx.insertBuildEvent(seen, { at, origin: 'delivery', priority: 1, revisionKey: key })
      await tx.placeEvent(seq, 1)
      await tx.insertDelivery({ receivedAt: at, answer: 'recorded', eventSeq: seq, body: JSON.stringify(seen) })
      await tx.saveDecision(decided({ eventSeq: seq, ...card, decidedAt: at }))
    }
    const ts = messageTs(`${Math.floor(at / 1_000)}.${id.padStart(6, '0')}`)
    const written = { state: 'posted', claimedAt: at, writtenAt: at, ts } as const
    await tx.insertMessage(claimed({ ...card, key: `key-${id}`, ...written }))
    await tx.saveBuild({
      projectId: projectId(WEB),
      buildId: buildId(id),
      buildOrder: idOrder(id),
      attempt: 1,
      revisionKey: key,
      cardNumber: 1,
      branch: where.branch,
      status: rawStatus === 'error' ? 'failed' : 'success',
      rawStatus,
      at,
      buildUuid: null,
      committer: 'ada',
    })
  }
}

const pagesOf = (stage: Stage): number => (stage.sql('pragma page_count')[0] as { page_count: number }).page_count
