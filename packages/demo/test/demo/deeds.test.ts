import { describe, expect, it } from 'vitest'
import { PEOPLE } from '../../../sandbox-slack/src/workspace.ts'
import { agrees, compare } from '../../src/demo/agreement.ts'
import { compareDeeds, type Seen } from '../../src/demo/deeds.ts'
import { message, wellPlayed } from './cast.ts'

/** The same end, but with each message's words changed. */
const rewritten = (from: string, to: string): Partial<Seen> => ({
  messages: wellPlayed().messages.map((one) => ({
    ...one,
    text: one.text.replace(from, to),
    attachments: JSON.parse(JSON.stringify(one.attachments).replace(from, to)),
  })),
})

const withoutLine = (words: string): Partial<Seen> => ({
  messages: wellPlayed().messages.filter(({ threadTs, text }) => threadTs === undefined || !text.includes(words)),
})

const { ada, grace, lin } = PEOPLE
const { asked, answers, messages } = wellPlayed()
const [restart, stop] = asked

describe('the end of the scenario', () => {
  it('agrees when each deed reached CI once, the cards and threads tell it, and the questions are answered', () => {
    expect(compareDeeds(wellPlayed())).toEqual({ lost: [], doubled: [], wrong: [] })
  })

  it.each<[string, Partial<Seen>, RegExp]>([
    ['no restart reached CI', { asked: [stop!] }, /no Restart reached CI/],
    ['no stop reached CI', { asked: [restart!] }, /no Stop reached CI/],
    ['the card of the build is missing', { messages: [] }, /no card tells the build 501/],
    ['the thread does not say who restarted', withoutLine('Restart requested'), /thread does not say: Restart/],
    ['it names another person', rewritten(PEOPLE.lin, PEOPLE.gus), /thread does not say: Restart requested by <@U0LIN/],
    [
      'nobody let the waiting build go on',
      withoutLine('Run (deploy'),
      /no thread says that <@U0GRACE001> pressed Run…/,
    ],
    ['nobody is called', rewritten('<@U0ADA00001>', 'Ada'), /no failure calls <@U0ADA00001>/],
    ['a red card names no test', rewritten('sums (new)', ''), /no card names the 1 tests that failed/],
    ['nobody is on the red branch', withoutLine('is on it'), /no thread says: <@U0ADA00001> is on it/],
    ['it was not handed over', withoutLine('handed it'), /no thread says: <@U0GRACE001> handed it to <@U0LIN/],
    ['nobody’s time was up', { owners: [null, ada, grace, lin, null] }, /names <@U0ADA00001> as the owner, and later/],
    ['nobody was on it', { owners: [null] }, /names <@U0ADA00001> as the owner, and later/],
    [
      'the one who is late is told nothing',
      { toldDirectly: [] },
      /<@\w+> was not told that the branch is fixed already/,
    ],
    ['the digest has no answer', { answers: answers.slice(0, -1) }, /no answer to \/ci digest now/],
    ['the list has no answer', { answers: answers.slice(1) }, /no answer to \/ci list/],
    ['the list leaves a project out', { projects: ['acme/web', 'acme/ios'] }, /no answer to \/ci list/],
    ['the status has no answer', { answers: answers.filter((_, at) => at !== 1) }, /no answer to \/ci status/],
  ])('has lost something when %s', (_, change, sentence) => {
    const { lost, doubled } = compareDeeds({ ...wellPlayed(), ...change })
    expect(lost.join('\n')).toMatch(sentence)
    expect(doubled).toEqual([])
  })

  it('has doubled something when CI was called twice', () => {
    const { doubled } = compareDeeds({ ...wellPlayed(), asked: [...asked, restart!] })
    expect(doubled).toEqual(['2 calls of Restart reached CI'])
  })

  it('has doubled something when the thread says twice who asked', () => {
    const line = messages.find(({ text }) => text.includes('Restart requested'))!
    const { doubled } = compareDeeds({ ...wellPlayed(), messages: [...messages, { ...line, ts: '8.8' }] })
    expect(doubled).toEqual(['the thread says 2 times who asked'])
  })

  it.each<[string, Partial<Seen>, RegExp]>([
    [
      'the restarted build is still red',
      rewritten('*Passed on attempt 2 (flaky)* acme/web #501', '*Failed* acme/web #501'),
      /say Passed/,
    ],
    ['the card does not say who stopped it', rewritten(`, Stop requested by <@${PEOPLE.grace}>`, ''), /card does not/],
  ])('is wrong when %s', (_, change, sentence) => {
    expect(compareDeeds({ ...wellPlayed(), ...change }).wrong.join('\n')).toMatch(sentence)
  })
})

describe('what CI did and what the channel shows', () => {
  const { builds } = wellPlayed()

  it('agree whatever people asked for and wrote in the threads', () => {
    const { ts } = messages[0]!
    const words = message({ threadTs: ts, byBot: false, userId: PEOPLE.ada, text: 'Sorry, my fault' })
    expect(agrees(compare(builds, [...messages, words]))).toBe(true)
  })

  it('do not when a reply of an attempt is missing', () => {
    const left = messages.filter(({ threadTs, text }) => !threadTs || !/Failed|attempt 2/.test(text))
    expect(compare(builds, left).lost).toEqual(['the thread of acme/web #501 has 0 replies for 2 runs'])
  })

  it('do not when a reply of an attempt is doubled', () => {
    const again = message({ threadTs: messages[0]!.ts, text: ':x: *Failed* after 3 s' })
    expect(compare(builds, [...messages, again]).doubled).toHaveLength(1)
  })

  it('do not when a build has two cards', () => {
    const second = message({ ts: '7.7', text: ':game_die: *Passed on attempt 2 (flaky)* acme/web #501 on `main`' })
    expect(compare(builds, [...messages, second]).doubled).toEqual(['2 cards tell acme/web #501'])
  })
})
