import { meCommand } from '../../slack/messages/build.ts'
import { CLAIMANTS_JOB, checkClaimants, createPersonOperations, type MeOutcome, type PersonDeps } from './people.ts'
import { answerMe } from './messages.ts'
import type { Reply } from '../kit/context.ts'
import { findSummary } from '../../ci-sync/ci-lookup.ts'
import { replyTo, tooLittle, tooMuch, type AnswerDeps, type CommandRow, type Question } from '../kit/command.ts'
import { CUT, type Word } from '../../slack/commands/parse.ts'
import { ACTION_IDS, HOME_ACTION_IDS } from '../../slack/messages/ids.ts'
import type { ButtonHandler, Click, Feature } from '../kit/feature.ts'
import type { Requester } from '../../projects/outcomes.ts'
import { shortId } from '../../domain/ids.ts'
import { parseAttemptRef } from '../../domain/cards/request.ts'

type PersonOperations = ReturnType<typeof createPersonOperations>

export function people(deps: AnswerDeps & PersonDeps): Feature {
  const operations = createPersonOperations(deps)
  return {
    commands: [
      {
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
        handle: (question) => answerTyped(deps, operations, question),
      },
    ],
    buttons: {
      [ACTION_IDS.claim]: claimButton(deps, operations),
      [HOME_ACTION_IDS.mentions]: {
        what: 'mentions',
        describe: () => 'me mentions',
        answer: (click) => toggleMentions(deps, operations, click),
      },
    },
    jobs: [{ name: CLAIMANTS_JOB, cron: '*/10 * * * *', run: (signal) => checkClaimants(deps, signal) }],
  }
}

/** Runs the request that was typed. */
type Ask = (operations: PersonOperations, by: Requester) => Promise<MeOutcome>

/** Shows or changes which person a committer name means. */
async function answerTyped(deps: AnswerDeps, operations: PersonOperations, question: Question): Promise<Reply> {
  const ask = readWords(question.row, question.words)
  return typeof ask === 'function' ? replyOf(deps, await ask(operations, question.by), question) : ask
}

async function replyOf({ permits }: AnswerDeps, outcome: MeOutcome, { by, reference }: Asker): Promise<Reply> {
  const isAdmin = (await permits('administer', by)).kind === 'yes'
  return replyTo(outcome, answerMe(outcome, { by: by.user, reference, isAdmin }))
}

type Asker = Pick<Question, 'by' | 'reference'>

/** Reads ``, `ada`, `"ada lovelace"`, `forget ada`, `mentions off` or `ada for @grace`, or answers what is wrong. */
function readWords(row: CommandRow, words: readonly Word[]): Ask | Reply {
  const [first, second, third, fourth] = words
  if (!first) return (operations, by) => operations.me(by)
  if (words.includes(CUT)) return tooMuch(row, CUT.text)
  if (!isName(first)) return tooLittle(row, NAME, '/ci me ada')
  const verb = first.text.toLowerCase()
  if (verb === 'mentions') return readMentions(row, second, third)
  if (verb === 'forget') return readForgotten(row, second, third)
  if (verb === 'for') return tooLittle(row, NAME, meCommand('', 'ada', 'for @grace'))
  // `on` or `off` alone is probably half of `mentions off`, so it is not claimed as a name.
  if (!second && isSwitch(verb)) return tooLittle(row, 'a committer name, or mentions', meCommand('mentions', verb))
  if (!second) return (operations, by) => operations.claim(first.text, by)
  if (second.text.toLowerCase() !== 'for') return tooMuch(row, second.text, quoted(words))
  if (fourth) return tooMuch(row, fourth.text)
  const user = third && receiverOf(third)
  if (user === undefined) return tooLittle(row, PERSON, meCommand('', first.text, 'for @grace'))
  return (operations, by) => operations.give(first.text, user ?? by.user, by)
}

const isSwitch = (verb: string): boolean => verb === 'on' || verb === 'off'

const NAME = 'a committer name, as your commits carry it'
const PERSON = "a person, chosen from Slack's list after the @"

// A mention of a Slack user is not a committer name.
const isName = ({ text, userId }: Word): boolean => text !== '' && userId === undefined

/** The command again, with a name of several words in quotes. */
const quoted = (words: readonly Word[]): string => meCommand('', words.map(({ text }) => text).join(' '))

function readMentions(row: CommandRow, second: Word | undefined, third: Word | undefined): Ask | Reply {
  const word = second?.text.toLowerCase() ?? ''
  if (third) return tooMuch(row, third.text)
  if (!isSwitch(word)) return tooLittle(row, 'on or off', '/ci me mentions off')
  return (operations, by) => operations.setMentions(word === 'on', by)
}

function readForgotten(row: CommandRow, second: Word | undefined, third: Word | undefined): Ask | Reply {
  if (!second || !isName(second)) return tooLittle(row, NAME, '/ci me forget ada')
  return third ? tooMuch(row, third.text) : (operations, by) => operations.release(second.text, by)
}

/** The Slack user who gets the name; null: the requester; undefined: not a person. */
const receiverOf = ({ text, userId }: Word): string | null | undefined =>
  userId ?? (text.toLowerCase() === 'me' ? null : undefined)

/** Turns mentions on or off. There is no answer on success, because Home is redrawn and shows it. */
async function toggleMentions(deps: AnswerDeps, operations: PersonOperations, click: Click): Promise<Reply | null> {
  const { value, by } = click
  if (value !== 'on' && value !== 'off') return null
  const outcome = await operations.setMentions(value === 'on', by)
  if (outcome.kind !== 'mentions') return replyOf(deps, outcome, click)
  return { outcome: outcome.kind, answer: null }
}

/** "That's me" on a failed build: `/ci me` with the name of its committer. */
const claimButton = (deps: AnswerDeps, operations: PersonOperations): ButtonHandler => ({
  what: 'me',
  describe: (value) => {
    const ref = parseAttemptRef(value)
    return ref && `me, as the committer of #${shortId(ref.buildId)}`
  },
  async answer({ value, by, reference }) {
    const ref = parseAttemptRef(value)
    if (!ref) return null
    const result = await findSummary(deps, { kind: 'run', ref })
    const committer = result.kind === 'found' ? result.build.committer : null
    const outcome: MeOutcome = committer === null ? { kind: 'no-committer' } : await operations.claim(committer, by)
    if (outcome.kind === 'claimed' || outcome.kind === 'taken') await operations.buttonPressed(ref)
    return replyOf(deps, outcome, { by, reference })
  },
})
