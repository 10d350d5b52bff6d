import { describe, expect, it } from 'vitest'
import type { StoryContext } from '../../../src/domain/cards/story.ts'
import type { Said } from '../../support/build-events.ts'
import { ADA, told } from '../support/telling.ts'

describe('a mention', () => {
  it('is of the committer of the newest attempt if that failed', () => {
    expect(told(['initiated', 'error']).replies[0]!.view.mention).toBe(ADA)
  })

  it.each(['success', 'infrastructure_failure', 'stopped'])('does not exist for %s', (word) => {
    expect(told(['initiated', word]).replies[0]!.view.mention).toBeNull()
    expect(told(['initiated', word], { postedAttempt: '512.1' }).card.mention).toBeNull()
  })

  it('does not exist for a fixed build', () => {
    expect(told(['error', 'success']).replies.at(-1)!.view.mention).toBeNull()
  })

  it("does not exist if the committer's name is not claimed", () => {
    const said = ['initiated', { word: 'error', details: { committer: 'grace' } }]
    expect(told(said).replies[0]!.view.mention).toBeNull()
  })

  it('does not exist if the committer is unknown', () => {
    const heard: (string | null)[] = []
    const mentionOf = (committer: string | null) => {
      heard.push(committer)
      return committer && ADA
    }
    const nobody = { committer: null }
    const story = told(
      [
        { word: 'initiated', details: nobody },
        { word: 'error', details: nobody },
      ],
      { mentionOf },
    )
    expect(story.replies[0]!.view.mention).toBeNull()
    expect(heard).toContain(null)
  })

  it('does not exist for an attempt that was replaced by another', () => {
    const { replies } = told(['initiated', 'error', 'initiated'])
    expect(replies[0]!.view.mention).toBeNull()
  })

  it('is on the card, and only there, if the card was posted as failed', () => {
    const story = told(['initiated', 'error'], { postedAttempt: '512.1' })
    expect(story.card.mention).toBe(ADA)
    expect(story.replies).toEqual([])
  })

  it('is not on a card whose failure a reply announces', () => {
    expect(told(['initiated', 'error']).card.mention).toBeNull()
    expect(told(['initiated', 'error', 'initiated', 'error'], { postedAttempt: '512.1' }).card.mention).toBeNull()
  })
})

describe("the button to claim a committer's name", () => {
  const lin = { details: { committer: 'lin' } }
  const by = (...words: string[]): Said[] => words.map((word) => ({ word, ...lin }))
  const claims = (said: readonly (string | Said)[], context: Partial<StoryContext> = {}) => {
    const { card, replies } = told(said, context)
    return { card: card.claim, replies: replies.map(({ view }) => view.claim) }
  }

  it('is in the reply to a failure, and names the build', () => {
    expect(claims(by('initiated', 'error'))).toEqual({ card: null, replies: ['41/512.1'] })
  })

  it('asks the proposed person, except for an attempt that was replaced by another', () => {
    const asked = (said: readonly (string | Said)[], context: Partial<StoryContext> = {}) => {
      const { card, replies } = told(said, { proposed: ADA, ...context })
      return [card.proposed, ...replies.map(({ view }) => view.proposed)]
    }
    expect(asked(by('initiated', 'error'))).toEqual([null, ADA])
    expect(asked(by('initiated', 'error'), { postedAttempt: '512.1' })).toEqual([ADA])
    expect(asked(by('initiated', 'error', 'initiated', 'error'))).toEqual([null, null, null])
    expect(asked(by('initiated', 'infrastructure_failure'))).toEqual([null, null])
    expect(asked(['initiated', 'error'])).toEqual([null, null])
  })

  it('is on the card if the card was posted as failed, and in the thread once another attempt is on the card', () => {
    const born = { postedAttempt: '512.1' }
    expect(claims(by('initiated', 'error'), born)).toEqual({ card: '41/512.1', replies: [] })
    expect(claims(by('initiated', 'error', 'initiated', 'error'), born)).toEqual({
      card: null,
      replies: ['41/512.1', null],
    })
  })

  it('is offered only with the first failure of a commit', () => {
    const said = by('initiated', 'infrastructure_failure', 'initiated', 'error', 'initiated', 'error')
    expect(claims(said).replies).toEqual([null, '41/512.2', null])
  })

  it.each(['success', 'infrastructure_failure', 'stopped'])('is not offered for %s', (word) => {
    expect(claims(by('initiated', word))).toEqual({ card: null, replies: [null] })
    expect(claims(by('initiated', word), { postedAttempt: '512.1' }).card).toBeNull()
  })

  it('is not offered if somebody has claimed the name', () => {
    expect(claims(['initiated', 'error']).replies).toEqual([null])
  })
})

describe('a broadcast reply', () => {
  const broadcast = (said: (string | Said)[], context: Partial<StoryContext> = {}) =>
    told(said, context).replies.map(({ view }) => view.broadcast)

  it.each<[claim: string, said: (string | Said)[], expected: boolean[]]>([
    ['is a failure', ['initiated', 'error'], [true]],
    ['is a machine error', ['initiated', 'infrastructure_failure'], [true]],
    ['is no success after the line of a failure', ['initiated', 'error', 'initiated', 'success'], [false, false]],
    ['is no second failure', ['initiated', 'error', 'initiated', 'error'], [false, false]],
    ['is a failure after a success', ['initiated', 'success', 'initiated', 'error'], [false, true]],
    ['is not a plain success', ['initiated', 'success'], [false]],
    ['is not a stopped build', ['initiated', 'stopped'], [false]],
    ['is not a failure of an attempt that was replaced', ['initiated', 'error', 'initiated'], [false]],
  ])('%s', (_, said, expected) => {
    expect(broadcast(said)).toEqual(expected)
  })

  it('is a recovery whose failure the card showed when it was posted, and no later one', () => {
    const born = { postedAttempt: '512.1' }
    expect(broadcast(['error', 'success'], born)).toEqual([false, true])
    expect(broadcast(['error', { word: 'error', build: '513' }, { word: 'success', build: '514' }], born)).toEqual([
      false,
      false,
      true,
    ])
    expect(broadcast(['error', 'success', 'error', 'success'], born)).toEqual([false, false, false, false])
  })

  it('is the result of the commit after a build that CI refused, or that failed while a newer one ran', () => {
    const isLoud = () => true
    expect(broadcast(['waiting', 'ignored', 'initiated', 'success'], { isLoud })).toEqual([true])
    const beside = [{ word: 'initiated' }, { word: 'initiated', build: '513' }, { word: 'error' }]
    expect(broadcast([...beside, { word: 'error', build: '513' }])).toEqual([false, true])
  })

  it('is every announcement selected as a failure or recovery, and no other', () => {
    expect(broadcast(['initiated', 'error'], { isLoud: () => false })).toEqual([false])
    expect(broadcast(['error', 'success'], { isLoud: () => false })).toEqual([false, false])
    expect(broadcast(['initiated', 'infrastructure_failure'], { isLoud: () => false })).toEqual([false])
    expect(broadcast(['initiated', 'success'], { isLoud: () => true })).toEqual([true])
  })

  it('is decided for each attempt', () => {
    const said = ['initiated', 'error', 'initiated', 'success']
    expect(broadcast(said, { isLoud: (attempt) => attempt.n === 1 })).toEqual([false, false])
    expect(broadcast(said, { isLoud: (attempt) => attempt.n === 2 })).toEqual([false, true])
  })

  it('says what followed once the commit has run again, and no other reply does', () => {
    const then = (said: (string | Said)[], context: Partial<StoryContext> = {}) =>
      told(said, context).replies.map(({ view }) => view.later)
    const rerun = ['initiated', 'error', 'initiated']
    expect(then(rerun.slice(0, 2))).toEqual([undefined])
    expect(then(rerun)).toEqual([{ shown: 'started', attemptNumber: 2 }])
    expect(then([...rerun, 'success'])).toEqual([{ shown: 'flaky', attemptNumber: 2 }, undefined])
    expect(then([...rerun, 'error', 'initiated'])).toEqual([{ shown: 'started', attemptNumber: 3 }, undefined])
    expect(then(rerun, { quiet: true })).toEqual([undefined])
    expect(then(rerun, { isLoud: () => false })).toEqual([undefined])
    expect(then(rerun, { postedAttempt: '512.1' })).toEqual([undefined])
  })

  it('does not exist for an attempt that is not announced, even if it is loud', () => {
    expect(broadcast(['initiated', 'error'], { isAnnounced: () => false, isLoud: () => true })).toEqual([])
  })

  it('does not exist for a quiet subscription', () => {
    expect(broadcast(['initiated', 'success'], { quiet: true, isLoud: () => true })).toEqual([false])
    expect(broadcast(['initiated', 'error'], { quiet: true })).toEqual([false])
    expect(broadcast(['error', 'success'], { quiet: true })).toEqual([false, false])
  })

  it('may be off while the mention stays', () => {
    expect(told(['initiated', 'error'], { isLoud: () => false }).replies[0]!.view.mention).toBe(ADA)
  })

  it('may be off for a quiet subscription while the mention stays', () => {
    expect(told(['initiated', 'error'], { quiet: true }).replies[0]!.view.mention).toBe(ADA)
  })
})
