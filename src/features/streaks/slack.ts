import { STREAK_ACTION_ID } from '../../slack/messages/ids.ts'
import { answerError, typed } from '../../slack/messages/answer.ts'
import { projectLabel } from '../../slack/messages/build.ts'
import { amountOf } from '../../slack/commands/parse.ts'
import type { Word } from '../../slack/commands/parse.ts'
import { checkBranches, heldBy, redNow, type BranchEndsDeps } from '../../projects/streaks.ts'
import { findProject, followedBy, onlyOf } from '../../projects/projects.ts'
import type { Projects } from '../../store/records.ts'
import {
  answerContext,
  BUILD_USAGE,
  commandAbout,
  nameless,
  replyTo,
  tooMuch,
  whenMayRead,
  type AnswerDeps,
  type Command,
  type CommandRow,
  type Question,
} from '../kit/command.ts'
import type { Reply } from '../kit/context.ts'
import { inWords } from '../kit/build.ts'
import type { Feature } from '../kit/feature.ts'
import { answerNotFound } from '../kit/not-found.ts'
import type { Choice } from '../kit/values.ts'
import { act, HOUR_MINUTES, OWNED_HOURS_MAX, type StreakAction, type StreakDeps, type Span } from './action.ts'
import { STREAK_CALLBACK_ID, streakForm, openStreak } from './form.ts'
import { answerStreak, answerOnNone, answerRed } from './messages.ts'
import { remind, type RemindDeps } from './remind.ts'

type Deps = AnswerDeps & StreakDeps & RemindDeps & BranchEndsDeps

export function streaks(deps: Deps): Feature {
  // The choice does not contain the typed time, so it shows the red branches with their buttons instead.
  const choose: Command['choose'] = (question, choice) => redOfChoice(deps, question, choice)
  return {
    commands: [
      { ...RED, handle: (question) => answerRedTyped(deps, question), choose },
      { ...ON, handle: (question) => takeTyped(deps, question), choose },
      { ...LET, handle: (question) => letGoTyped(deps, question), choose },
    ],
    buttons: {
      [STREAK_ACTION_ID]: { what: 'look after a red branch', answer: (click) => openStreak(deps, click) },
    },
    forms: { [STREAK_CALLBACK_ID]: streakForm(deps) },
    jobs: [
      { name: 'remind-red-branches', cron: '*/15 * * * * *', run: (signal) => remind(deps, signal) },
      { name: 'check-red-branches', cron: '* * * * *', run: (signal) => checkBranches(deps, signal) },
    ],
  }
}

const THREADS = "In a build's thread, mention Buildline: `@Buildline on it 30m`, `@Buildline let go`."

const RED: CommandRow = {
  name: 'red',
  alias: null,
  group: 'Look',
  usage: '[project]',
  does: 'shows the red branches, since when, and who is on them',
  examples: ['/ci red', '/ci red acme/web'],
  who: 'everyone',
  notes: ["Alone, it shows this channel's projects. *I'm on it* takes a branch, hands it over, or lets it go."],
}

async function answerRedTyped(deps: Deps, question: Question): Promise<Reply> {
  const { row, words } = question
  const [project, extra] = words
  if (extra) return tooMuch(row, extra.text)
  if (project?.text === '') return nameless(row, null)
  return whenMayRead(deps, question, async () => {
    if (!project) return redHere(deps, question)
    const named = await findProject(deps.store.read, project.text)
    if (named.kind === 'project')
      return listRed(deps, onlyOf(named.project), ` in ${projectLabel({ project: named.project.name })}`)
    return replyTo(named, answerNotFound(named, answerContext(question, null)))
  })
}

/** All red branches of the chosen project, or of the chosen build's project. */
async function redOfChoice(deps: Deps, question: Question, choice: Choice): Promise<Reply> {
  if (choice.kind === 'project') return answerRedTyped(deps, { ...question, words: [{ text: choice.project }] })
  return whenMayRead(deps, question, () => listRed(deps, onlyOf(choice.ref), ''))
}

/** The red branches of the projects that the channel follows, or of all. */
async function redHere(deps: Deps, { by }: Pick<Question, 'by'>): Promise<Reply> {
  const { projects, where } = await followedBy(deps, by.channel)
  return listRed(deps, projects, inWords(where))
}

async function listRed(deps: Deps, projects: Projects, where: string): Promise<Reply> {
  return { outcome: 'red', answer: answerRed(await redNow(deps, projects), where) }
}

const ON: CommandRow = {
  name: 'on',
  alias: null,
  group: 'Act',
  usage: `it [30m|4h|tomorrow] ${BUILD_USAGE}`,
  does: 'says that you look after a red branch, for 1 hour unless you say otherwise; alone, it shows what is red here',
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
async function takeTyped(deps: Deps, question: Question): Promise<Reply> {
  const words = without('it', question.words)
  const [first, ...others] = words
  const span = first ? spanOf(first) : null
  if (span === null && first && TIME.test(first.text)) return noSpan(first)
  const take = about(deps, ON, { kind: 'take', span: span ?? HOUR_MINUTES })
  return take.handle({ ...question, words: span === null ? words : others })
}

const letGoTyped = (deps: Deps, question: Question): Promise<Reply> =>
  about(deps, LET, { kind: 'let-go' }).handle({ ...question, words: without('go', question.words) })

/** The words without an optional first one: `/ci on it` and `/ci on` are equal. */
const without = (word: string, words: readonly Word[]): readonly Word[] =>
  words[0]?.text.toLowerCase() === word ? words.slice(1) : words

/** Looks like a time, and not like a project's name. */
const TIME = /^[+-]?[\d.,]+[mh]$/i

const noSpan = ({ text }: Word): Reply => ({
  outcome: 'unclear',
  answer: answerError({
    what: `:mag: *Not understood*: ${typed(text)} is not a time from ${typed('1m')} to ${typed(`${OWNED_HOURS_MAX}h`)}, or ${typed('tomorrow')}.`,
    why: null,
    next: `For example: ${typed('/ci on it 30m #512')}`,
  }),
})

/** Acts on the named build, or the one in whose thread it was typed; without one, shows what is red. */
function about(deps: Deps, row: CommandRow, action: StreakAction): Command {
  const redHereFor = (question: Question) => whenMayRead(deps, question, () => redHere(deps, question))
  /** The only branch that the person is on is meant. */
  async function letGoAlone(question: Question): Promise<Reply> {
    const [own, ...others] = await heldBy(deps, question.by.user)
    if (!own) return whenMayRead(deps, question, async () => ({ outcome: 'on-none', answer: answerOnNone() }))
    if (others.length > 0) return redHereFor(question)
    const outcome = await act(deps, { kind: 'streak', id: own.id }, action, question.by)
    return replyTo(outcome, answerStreak(outcome, answerContext(question, null, row.name)))
  }
  return commandAbout(row, async (question, target) => {
    if (!target) return action.kind === 'let-go' ? letGoAlone(question) : redHereFor(question)
    const outcome = await act(deps, target, action, question.by)
    if (outcome.kind === 'no-card') return redHereFor(question)
    return replyTo(outcome, answerStreak(outcome, answerContext(question, target, row.name)))
  })
}

function spanOf({ text }: Word): Span | null {
  const word = text.toLowerCase()
  if (word === 'tomorrow') return word
  const minutes = amountOf(word, 'm') ?? (amountOf(word, 'h') ?? 0) * HOUR_MINUTES
  return minutes > 0 && minutes <= OWNED_HOURS_MAX * HOUR_MINUTES ? minutes : null
}
