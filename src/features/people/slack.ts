import { meCommand } from '../../slack/messages/handle.ts'
import type { MeOutcome } from './people.ts'
import { answerMe } from './messages.ts'
import { usageOf } from '../command.ts'
import { answerTooLittle, answerTooMuch } from '../slips.ts'
import type { Reply, SlackDeps } from '../context.ts'
import { howTyped, outcomeName, type Command, type Question } from '../command.ts'
import { CUT, type Word } from '../../slack/commands/parse.ts'
import { ACTION_IDS, HOME_ACTION_IDS } from '../../slack/messages/ids.ts'
import type { Button, Click, Feature } from '../feature.ts'
import { shortId } from '../../domain/ids.ts'
import { parseAttemptRef } from '../../domain/request.ts'
import { fieldOf } from '../../domain/raw-values.ts'
import { textAt } from '../body.ts'

const command: Command = {
  name: 'me',
  alias: null,
  group: 'You',
  usage: '[name [for @person] | forget name | mentions on|off]',
  does: 'claims your committer name, so that your failed builds mention you',
  examples: ['/ci me', '/ci me ada', '/ci me mentions off', '/ci me ada for @grace'],
  who: 'everyone',
  notes: [
    'Type the name as a card shows it after the commit. One person has a name; only an admin can give it to somebody else.',
    'Names that many people commit with, such as those of bots, cannot be claimed.',
  ],
  handle: answerTyped,
}

/** What the requester wants to do about committer names, as typed. */
type Wish =
  | { kind: 'look' }
  | { kind: 'claim' | 'release'; handle: string }
  /** `user`: a Slack user; null: the requester */
  | { kind: 'give'; handle: string; user: string | null }
  | { kind: 'mentions'; on: boolean }
  /** `missing`: the word that is missing */
  | { kind: 'too-little'; missing: string; example: string }
  /** `extra`: the first surplus word; Buildline does not guess what it means */
  | { kind: 'too-much'; extra: string; example: string | null }

/** Says which person a committer name means, or changes that. */
async function answerTyped(question: Question): Promise<Reply> {
  const wish = readWish(question.words)
  const { row, reference } = question
  if (wish.kind === 'too-little')
    return { outcome: 'too-little', answer: answerTooLittle({ ...wish, usage: usageOf(row) }) }
  if (wish.kind === 'too-much') {
    const how = { usage: usageOf(row), example: wish.example ?? howTyped(row).example }
    return { outcome: 'too-much', answer: answerTooMuch({ extra: wish.extra, ...how }) }
  }
  const outcome = await grant(question, wish)
  return { outcome: outcomeName(outcome), answer: answerMe(outcome, { by: question.by.user, reference }) }
}

type Clear = Exclude<Wish, { kind: 'too-little' | 'too-much' }>

function grant({ operations: { people }, by }: Question, wish: Clear): Promise<MeOutcome> {
  switch (wish.kind) {
    case 'look':
      return people.me(by)
    case 'claim':
      return people.claim(wish.handle, by)
    case 'release':
      return people.release(wish.handle, by)
    case 'give':
      return people.give(wish.handle, wish.user ?? by.user, by)
    case 'mentions':
      return people.setMentions(wish.on, by)
  }
}

/** Reads ``, `ada`, `"ada lovelace"`, `forget ada`, `mentions off`, `ada for @grace`. */
function readWish(words: readonly Word[]): Wish {
  const [first, second, third, fourth] = words
  if (!first) return { kind: 'look' }
  if (words.includes(CUT)) return { kind: 'too-much', extra: CUT.text, example: null }
  if (!isName(first)) return { kind: 'too-little', missing: NAME, example: '/ci me ada' }
  const verb = first.text.toLowerCase()
  if (verb === 'mentions') return readMentions(second, third)
  if (verb === 'forget') return readForgotten(second, third)
  if (verb === 'for') return { kind: 'too-little', missing: NAME, example: meCommand('', 'ada', 'for @grace') }
  if (!second) return isSwitch(verb) ? switchAlone(verb) : { kind: 'claim', handle: first.text }
  if (second.text.toLowerCase() !== 'for') return tooMuch(second, quoted(words))
  if (!third) return { kind: 'too-little', missing: PERSON, example: meCommand('', first.text, 'for @grace') }
  if (fourth) return tooMuch(fourth, null)
  return readReceiver(first.text, third)
}

/** `on` or `off` alone is probably half of `mentions off`, so it is not claimed as a name. */
const switchAlone = (verb: string): Wish => ({
  kind: 'too-little',
  missing: 'a committer name, or mentions',
  example: meCommand('mentions', verb),
})

const isSwitch = (verb: string): boolean => verb === 'on' || verb === 'off'

const NAME = 'a committer name, as your commits carry it'
const PERSON = "a person, chosen from Slack's list after the @"

// A mention of a Slack user is not a committer name.
const isName = ({ text, userId }: Word): boolean => text !== '' && userId === undefined

const tooMuch = ({ text }: Word, example: string | null): Wish => ({ kind: 'too-much', extra: text, example })

/** The command again, with a name of several words in quotes. */
const quoted = (words: readonly Word[]): string => meCommand('', words.map(({ text }) => text).join(' '))

function readMentions(second: Word | undefined, third: Word | undefined): Wish {
  const word = second?.text.toLowerCase()
  if (third) return tooMuch(third, null)
  if (word !== undefined && isSwitch(word)) return { kind: 'mentions', on: word === 'on' }
  return { kind: 'too-little', missing: 'on or off', example: '/ci me mentions off' }
}

function readForgotten(second: Word | undefined, third: Word | undefined): Wish {
  if (!second || !isName(second)) return { kind: 'too-little', missing: NAME, example: '/ci me forget ada' }
  return third ? tooMuch(third, null) : { kind: 'release', handle: second.text }
}

function readReceiver(handle: string, word: Word): Wish {
  if (word.userId !== undefined) return { kind: 'give', handle, user: word.userId }
  if (word.text.toLowerCase() === 'me') return { kind: 'give', handle, user: null }
  return { kind: 'too-little', missing: PERSON, example: meCommand('', handle, 'for @grace') }
}

/** Slack sends every change of every profile; only leaving and returning matter. Events may be lost. Never throws. */
async function hearOfAccount({ operations, log }: SlackDeps, body: unknown): Promise<void> {
  const user = textAt(body, 'event', 'user', 'id')
  const isDeactivated = fieldOf(fieldOf(fieldOf(body, 'event'), 'user'), 'deleted')
  if (user === null || typeof isDeactivated !== 'boolean') return
  try {
    await operations.people.accountChanged(user, isDeactivated)
  } catch (error) {
    log.warn({ err: error, user }, 'a change of an account could not be stored; it is looked up within a day')
  }
}

/** Turns mentions on or off. On success there is no answer: the redrawn Home shows it. */
async function toggleMentions({ deps, value, by, reference }: Click): Promise<Reply | null> {
  if (value !== 'on' && value !== 'off') return null
  const outcome = await deps.operations.people.setMentions(value === 'on', by)
  if (outcome.kind !== 'mentions')
    return { outcome: outcomeName(outcome), answer: answerMe(outcome, { by: by.user, reference }) }
  await deps.homes.redraw(by.user)
  return { outcome: outcome.kind, answer: null }
}

/** "That's me" on a failed build: `/ci me` with the name of its committer. */
const claimButton: Button = {
  what: 'me',
  describe: (value) => {
    const ref = parseAttemptRef(value)
    return ref && `me, as the committer of #${shortId(ref.buildId)}`
  },
  async answer({ deps: { operations }, value, by, reference }) {
    const ref = parseAttemptRef(value)
    if (!ref) return null
    const looked = await operations.findBuild({ kind: 'run', ref })
    const committer = looked.kind === 'found' ? looked.build.committer : null
    const outcome: MeOutcome =
      committer === null ? { kind: 'no-committer' } : await operations.people.claim(committer, by)
    return { outcome: outcomeName(outcome), answer: answerMe(outcome, { by: by.user, reference }) }
  },
}

export const people: Feature = {
  commands: [command],
  buttons: {
    [ACTION_IDS.claim]: claimButton,
    [HOME_ACTION_IDS.mentions]: { what: 'mentions', describe: () => 'me mentions', answer: toggleMentions },
  },
  events: { user_change: hearOfAccount },
}
