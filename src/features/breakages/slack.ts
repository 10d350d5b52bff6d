import { BREAKAGE_ACTION_ID } from '../../slack/messages/ids.ts'
import { typed } from '../../slack/messages/answer.ts'
import { amountOf } from '../../slack/commands/parse.ts'
import type { Word } from '../../slack/commands/parse.ts'
import { redNow } from '../../catalog/breakages.ts'
import { findProject, followedBy } from '../../catalog/projects.ts'
import type { ProjectRef } from '../../catalog/outcomes.ts'
import {
  answerContext,
  BUILD_USAGE,
  commandAbout,
  replyTo,
  tooLittle,
  tooMuch,
  whenMayRead,
  type Command,
  type CommandRow,
  type Question,
} from '../command.ts'
import type { Reply } from '../context.ts'
import type { Feature } from '../feature.ts'
import type { Operations } from '../operations.ts'
import { answerNotFound } from '../not-found.ts'
import { HOUR_MINUTES, OWNED_HOURS_MAX, type Span, type BreakageAction } from './action.ts'
import { BREAKAGE_CALLBACK_ID, breakageForm, openBreakage } from './form.ts'
import { answerBreakage, answerRed } from './messages.ts'

const THREADS = "In a build's thread, mention Buildline: `@buildline on it 30m`, `@buildline let go`."

const red: Command = commandAbout(
  {
    name: 'red',
    alias: null,
    group: 'Look',
    usage: '[project]',
    does: 'shows the red branches, since when, and who is on them',
    examples: ['/ci red', '/ci red acme/web'],
    who: 'everyone',
    notes: ["Alone, it shows this channel's projects. *I'm on it* takes a branch, hands it over, or lets it go."],
  },
  (question, target) =>
    whenMayRead(question, async () => {
      const { stored } = question.operations
      if (target?.kind !== 'project') return listRed(stored, await followedBy(stored, question.by.channel))
      const named = await findProject(stored.store.read, target.project)
      if (named.kind === 'project') return listRed(stored, [named.project])
      return replyTo(named, answerNotFound(named, answerContext(question, target)))
    }),
)

async function listRed(
  stored: Operations['stored'],
  projects: readonly Pick<ProjectRef, 'projectId'>[],
): Promise<Reply> {
  const ids = projects.flatMap(({ projectId }) => projectId ?? [])
  return { outcome: 'red', answer: answerRed(await redNow(stored, ids)) }
}

const ON: CommandRow = {
  name: 'on',
  alias: null,
  group: 'Act',
  usage: `it [30m|4h|tomorrow] ${BUILD_USAGE}`,
  does: 'says that you look after a red branch, for 1 hour unless you say otherwise',
  examples: ['/ci on it acme/web@main', '/ci on it 30m #512', '/ci on it tomorrow acme/web@main'],
  who: 'members',
  notes: [THREADS],
}

const LET: CommandRow = {
  name: 'let',
  alias: null,
  group: 'Act',
  usage: `go ${BUILD_USAGE}`,
  does: 'says that you no longer look after a red branch',
  examples: ['/ci let go acme/web@main', '/ci let go #512'],
  who: 'members',
  notes: [THREADS],
}

/** `/ci on it 30m acme/web@main`, or `@buildline on it 30m` in a build's thread. */
async function takeTyped(question: Question): Promise<Reply> {
  const [it, second, ...others] = question.words
  const span = second ? spanOf(second) : null
  if (span === null && second && TIME.test(second.text)) return { ...tooLittle(ON, SPANS), outcome: 'unclear' }
  const words = span === null && second ? [second, ...others] : others
  return (
    slipOf(question, 'it', it) ?? about(ON, { kind: 'take', span: span ?? HOUR_MINUTES }).handle({ ...question, words })
  )
}

async function letGoTyped(question: Question): Promise<Reply> {
  const [go, ...words] = question.words
  return slipOf(question, 'go', go) ?? about(LET, { kind: 'let-go' }).handle({ ...question, words })
}

/** Meant as a time, and no project's name. */
const TIME = /^[+-]?[\d.,]+[mh]$/i

const SPANS = `a time from ${typed('1m')} to ${typed(`${OWNED_HOURS_MAX}h`)}, or ${typed('tomorrow')}`

/** What is said of a build: of the one that is named, or in whose thread it is said. */
const about = (row: CommandRow, action: BreakageAction): Command =>
  commandAbout(row, async (question, target) => {
    const { operations, by } = question
    const outcome = target ? await operations.breakages.act(target, action, by) : ({ kind: 'no-card' } as const)
    return replyTo(outcome, answerBreakage(outcome, answerContext(question, target, 'red')))
  })

/** The second word of the command has to be there. */
function slipOf({ row }: Question, wanted: string, word: Word | undefined): Reply | null {
  if (word?.text.toLowerCase() === wanted) return null
  return word ? tooMuch(row, word.text) : tooLittle(row, `the word ${wanted}`)
}

function spanOf({ text }: Word): Span | null {
  const word = text.toLowerCase()
  if (word === 'tomorrow') return word
  const minutes = amountOf(word, 'm') ?? (amountOf(word, 'h') ?? 0) * HOUR_MINUTES
  return minutes > 0 && minutes <= OWNED_HOURS_MAX * HOUR_MINUTES ? minutes : null
}

export const breakages: Feature = {
  commands: [red, { ...ON, handle: takeTyped }, { ...LET, handle: letGoTyped }],
  buttons: { [BREAKAGE_ACTION_ID]: { what: 'look after a red branch', answer: openBreakage } },
  forms: { [BREAKAGE_CALLBACK_ID]: breakageForm },
}
