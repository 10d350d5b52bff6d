import { describe, expect, test } from 'vitest'
import { isOpen } from '../../../src/domain/cards/request.ts'
import { mortal } from '../../alerts/mortal.ts'
import { MINUTE } from '../../support/build-events.ts'
import { grace, lin, never, ofAttempt, openStage, type Process, type Stage, noProjects } from '../operations-stage.ts'

/** More steps than a request takes, from the first read to the last write. */
const STEPS_MAX = 80

describe.each<['stop' | 'restart', string, object]>([
  ['stop', 'stopped', {}],
  ['restart', 'the same id', { restartKeepsId: true, restartOutcome: 'none' }],
  ['restart', 'a new id', { restartKeepsId: false, restartOutcome: 'none' }],
])('a %s (%s) whose process dies', (action, _, switches) => {
  test('at any step calls CI at most once, and is completed by the next process', async () => {
    const endings = [0, 0]
    for (let fuse = 1; fuse <= STEPS_MAX; fuse++) {
      await using stage = await openStage({ switches })
      const { ref } = action === 'stop' ? await stage.running() : await stage.ended()
      const hasLived = await askAndDie(stage, fuse, (process) => process.operations[action](ofAttempt(ref), lin()))
      // Nothing is delivered: the outcome can only be found by look-ups.
      await stage.clock.advance(1_000)
      stage.lose()
      const next = stage.another()
      const calls = stage.writes().length
      expect(calls, `at step ${fuse}`).toBeLessThanOrEqual(1)
      if ((await stage.requests()).some(isOpen))
        expect((await next.operations[action](ofAttempt(ref), grace())).kind, `at step ${fuse}`).toBe('asked-already')
      await stage.pass(3 * MINUTE, next)
      expect((await stage.requests()).filter(isOpen), `at step ${fuse}`).toEqual([])
      expect(stage.writes(), `at step ${fuse}`).toHaveLength(calls)
      const before = action === 'stop' ? { shown: 'started', attemptNumber: 1 } : { shown: 'failed', attemptNumber: 1 }
      const after = action === 'stop' ? { shown: 'stopped', attemptNumber: 1 } : { shown: 'started', attemptNumber: 2 }
      expect(stage.card(), `at step ${fuse}`).toMatchObject(calls === 0 ? before : after)
      if (hasLived) return expect(endings.every((deaths) => deaths > 0)).toBe(true)
      endings[calls]! += 1
    }
    throw new Error(`no ask came to its end in ${STEPS_MAX} steps`)
  })
})

/** @returns whether the process lived until the operation ended */
async function askAndDie(stage: Stage, fuse: number, ask: (process: Process) => Promise<unknown>): Promise<boolean> {
  const { store, clock, v2, legacy } = stage.main.deps
  const { life, deps } = mortal({ store, notifier: stage.reconcile.slack, clock }, fuse)
  const whileAlive = async <T>(call: () => Promise<T>): Promise<T> => {
    if (life.isDead()) return never()
    const answer = await call()
    return life.isDead() ? never() : answer
  }
  const process = stage.another({
    ...deps,
    v2: { listProjects: noProjects, stopBuild: (...args) => whileAlive(() => v2!.stopBuild(...args)) },
    legacy: {
      restartBuild: (...args) => whileAlive(() => legacy!.restartBuild(...args)),
      getProject: (...args) => whileAlive(() => legacy!.getProject(...args)),
    },
  })
  const ended = ask(process).then(() => true)
  const died = (async () => {
    while (!life.isDead()) await new Promise((resolve) => setTimeout(resolve, 1))
    return false
  })()
  const hasLived = await Promise.race([ended, died])
  life.kill()
  return hasLived
}
