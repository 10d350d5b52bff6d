import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldBuild, foldAttempts, LATE_START_MS, type Attempt } from '../../../src/domain/builds/attempt.ts'
import { isFinal, toStatus } from '../../../src/domain/builds/status.ts'
import { briefly, HOUR, renumbered, SECOND, story, T0, type Said } from '../../support/build-events.ts'

const STARTS = ['initiated', 'testing']
const FINALS = ['success', 'error', 'failed', 'stopped', 'infrastructure_failure', 'ignored', 'blocked']
const RAN = FINALS.filter((word) => word !== 'ignored' && word !== 'blocked')

const start = fc.constantFrom(...STARTS)
const pause = fc.constantFrom('waiting', 'paused', 'resumed', '')
const final = fc.constantFrom(...FINALS)
const anyWord = fc.oneof(start, pause, final)
/** any story of one build, possible or not, with gaps shorter and longer than a minute */
const anyStory = fc
  .array(fc.record({ word: anyWord, gap: fc.nat(2 * LATE_START_MS) }), { maxLength: 12 })
  .map((steps) => story(...spaced(steps)))

function spaced(steps: readonly { word: string; gap: number }[]): Said[] {
  let after = 0
  return steps.map(({ word, gap }) => ({ word, after: (after += gap) }))
}

const told = (attempts: readonly Attempt[]) =>
  attempts.map(({ n, status, rawStatus, startedAt, finalAt, finalSeq }) => ({
    n,
    status,
    word: rawStatus,
    startedAt,
    finalAt,
    finalSeq,
  }))

describe('a possible story of one attempt', () => {
  it('ends in its final status, whatever other statuses came before and however often', () => {
    const before = fc.array(fc.oneof(start, pause), { maxLength: 8 })
    fc.assert(
      fc.property(before, final, (words, end) => {
        expect(briefly(foldBuild(story(...words, end)).attempts)).toEqual([`512.1 ${toStatus(end)}`])
      }),
    )
  })

  it('ends in the same status in every order, if all arrives within a minute of the end', () => {
    const words = fc.tuple(start, fc.array(pause, { maxLength: 4 }), fc.constantFrom(...RAN))
    const shuffled = words.chain(([begun, pauses, end]) => {
      const all = [begun, ...pauses, end]
      return fc.shuffledSubarray(all, { minLength: all.length }).map((order) => ({ order, end }))
    })
    fc.assert(
      fc.property(shuffled, ({ order, end }) => {
        expect(briefly(foldBuild(story(...order)).attempts)).toEqual([`512.1 ${toStatus(end)}`])
      }),
    )
  })

  it('looks the same whatever arrives after its end, except for a restart or another end', () => {
    const tail = fc.array(fc.oneof(pause, fc.constant('again')), { maxLength: 6 })
    fc.assert(
      fc.property(fc.array(start, { maxLength: 2 }), final, tail, fc.nat(HOUR), (begun, end, after, gap) => {
        const heard = story(...begun, end)
        const later = story(...begun, end, ...after.map((word) => (word === 'again' ? end : word)))
        const spread = later.map((buildEvent, i) =>
          i < heard.length ? buildEvent : { ...buildEvent, at: buildEvent.at + gap },
        )
        expect(told(foldBuild(spread).attempts)).toEqual(told(foldBuild(heard).attempts))
      }),
    )
  })

  it('treats a start up to a minute after the end as late, and a later one as a restart', () => {
    const end = fc.constantFrom(...RAN)
    const afterEnd = fc.nat(2 * LATE_START_MS)
    fc.assert(
      fc.property(end, fc.array(pause, { maxLength: 3 }), start, afterEnd, (word, pauses, begun, after) => {
        const buildEvents = story({ word, after: 0 }, ...pauses.map((w) => ({ word: w, after })), {
          word: begun,
          after,
        })
        expect(foldBuild(buildEvents).attempts).toHaveLength(after > LATE_START_MS ? 2 : 1)
      }),
    )
  })

  it('has as many attempts as there were restarts, if all arrives in order', () => {
    const oneRun = fc.tuple(start, fc.array(pause, { maxLength: 2 }), final)
    fc.assert(
      fc.property(fc.array(oneRun, { minLength: 1, maxLength: 5 }), (attempts) => {
        const buildEvents = story(...attempts.flatMap(([begun, pauses, end]) => [begun, ...pauses, end]))
        const expected = attempts.map(([, , end], i) => `512.${i + 1} ${toStatus(end)}`)
        expect(briefly(foldBuild(buildEvents).attempts)).toEqual(expected)
      }),
    )
  })
})

describe('any story of one build', () => {
  it('never changes the final status of an attempt that has ended', () => {
    fc.assert(
      fc.property(anyStory, (buildEvents) => {
        const whole = foldBuild(buildEvents).attempts
        for (let length = 1; length <= buildEvents.length; length += 1)
          for (const attempt of foldBuild(buildEvents.slice(0, length)).attempts)
            if (attempt.finalSeq !== null)
              expect(whole[attempt.n - 1]).toMatchObject({ status: attempt.status, finalSeq: attempt.finalSeq })
      }),
    )
  })

  it('shows a final status exactly when the attempt has ended', () => {
    fc.assert(
      fc.property(anyStory, (buildEvents) => {
        for (const attempt of foldBuild(buildEvents).attempts)
          expect(isFinal(attempt.status)).toBe(attempt.finalSeq !== null)
      }),
    )
  })

  it('has no unfinished attempt except the newest, and numbers attempts from 1', () => {
    fc.assert(
      fc.property(anyStory, (buildEvents) => {
        const { attempts } = foldBuild(buildEvents)
        expect(attempts.slice(0, -1).every((attempt) => attempt.finalSeq !== null)).toBe(true)
        expect(attempts.map(({ n }) => n)).toEqual(attempts.map((_, i) => i + 1))
      }),
    )
  })

  it('has the same attempts without its duplicates', () => {
    fc.assert(
      fc.property(anyStory, (buildEvents) => {
        const { attempts, effects } = foldBuild(buildEvents)
        expect(told(foldBuild(buildEvents.filter((_, i) => effects[i] !== 'duplicate')).attempts)).toEqual(
          told(attempts),
        )
      }),
    )
  })

  it('has the same attempts without its late events', () => {
    fc.assert(
      fc.property(anyStory, (buildEvents) => {
        const { attempts, effects } = foldBuild(buildEvents)
        const kept = buildEvents.filter((_, i) => effects[i] !== 'late')
        expect(told(foldBuild(kept).attempts)).toEqual(told(attempts))
      }),
    )
  })

  it('has the same attempts if each event arrives several times in a row', () => {
    const twice = fc.integer({ min: 2, max: 4 })
    fc.assert(
      fc.property(anyStory, twice, (buildEvents, times) => {
        const repeated = buildEvents.flatMap((buildEvent) => Array<typeof buildEvent>(times).fill(buildEvent))
        expect(briefly(foldBuild(renumbered(repeated)).attempts)).toEqual(briefly(foldBuild(buildEvents).attempts))
      }),
    )
  })

  it('loses and changes no known detail by a repeated or late event', () => {
    const anyDetails = fc.record({
      message: fc.option(fc.constantFrom('fix login', 'wip')),
      committer: fc.option(fc.constantFrom('Ada', 'Grace')),
    })
    const echo = fc.constantFrom('success', 'waiting', 'paused', 'initiated')
    fc.assert(
      fc.property(anyDetails, anyDetails, echo, (known, more, word) => {
        const [attempt] = foldBuild(story({ word: 'success', details: known }, { word, details: more })).attempts
        const { message, committer } = attempt!.details
        expect({ message, committer }).toEqual({
          message: known.message ?? more.message,
          committer: known.committer ?? more.committer,
        })
      }),
    )
  })

  it('gives the same effects for a part of the story as for the whole', () => {
    fc.assert(
      fc.property(anyStory, fc.nat(12), (buildEvents, length) => {
        expect(foldBuild(buildEvents.slice(0, length)).effects).toEqual(foldBuild(buildEvents).effects.slice(0, length))
      }),
    )
  })

  it('changes its attempts only by events with the effect opened or moved', () => {
    fc.assert(
      fc.property(anyStory, (buildEvents) => {
        let before: string[] = []
        const { effects } = foldBuild(buildEvents)
        for (const [i, effect] of effects.entries()) {
          const now = foldBuild(buildEvents.slice(0, i + 1)).attempts.map(
            ({ n, rawStatus, status }) => `${n} ${status} ${rawStatus}`,
          )
          if (effect === 'opened') expect(now).toHaveLength(before.length + 1)
          else if (effect === 'moved') expect(now).not.toEqual(before)
          else expect(now).toEqual(before)
          before = now
        }
      }),
    )
  })

  it('gets exactly one more attempt from a start after a restart request', () => {
    fc.assert(
      fc.property(anyStory, (buildEvents) => {
        const ended = story(
          ...buildEvents.map(({ rawStatus, at }) => ({ word: rawStatus, after: at - T0 })),
          'waiting',
          'stopped',
        )
        const attempts = foldBuild(ended).attempts
        const last = ended.at(-1)!
        const restarted = [
          ...ended,
          { ...last, rawStatus: 'initiated', status: 'started' as const, seq: 99, at: last.at + SECOND },
        ]
        const asked = [{ buildId: last.buildId, at: last.at }]
        expect(foldBuild(restarted, asked).attempts.length).toBe(attempts.length + 1)
      }),
    )
  })
})

describe('two overlapping builds of one branch', () => {
  it('are folded as if each were alone, however their deliveries interleave', () => {
    const step = fc.record({ word: anyWord, build: fc.constantFrom('512', '9007199254740993') })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 16 }), (steps) => {
        const buildEvents = story(...steps)
        const alone = (build: string) => foldBuild(buildEvents.filter(({ buildId }) => buildId === build)).attempts
        expect(foldAttempts(buildEvents)).toEqual([...alone('512'), ...alone('9007199254740993')])
      }),
    )
  })

  it('are ordered by id, not by receipt, at any size of id', () => {
    const ids = fc.uniqueArray(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { maxLength: 6 })
    fc.assert(
      fc.property(ids, (builds) => {
        const attempts = foldAttempts(story(...builds.map((build) => ({ word: 'success', build: `${build}` }))))
        const ordered = [...builds].sort((a, b) => (a < b ? -1 : 1)).map(String)
        expect(attempts.map(({ buildId }) => buildId)).toEqual(ordered)
      }),
    )
  })
})

describe('a build whose source numbers its attempts', () => {
  const ends = fc.array(fc.constantFrom(...RAN), { minLength: 1, maxLength: 4 })
  const numbered = (end: string, i: number): Said[] =>
    ['queued', 'initiated', end].map((word) => ({ word, details: { attempt: i + 1 } }))
  const inAnyOrder = ends.chain((words) => {
    const said = words.flatMap(numbered)
    return fc.shuffledSubarray(said, { minLength: said.length }).map((shuffled) => ({ words, said: shuffled }))
  })

  it('has the same attempts in whatever order their events come', () => {
    fc.assert(
      fc.property(inAnyOrder, ({ words, said }) => {
        const expected = words.map((word, i) => `512.${i + 1} ${toStatus(word)}`)
        expect(briefly(foldBuild(story(...said)).attempts)).toEqual(expected)
      }),
    )
  })
})
