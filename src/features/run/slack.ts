import { CUT, partAt, type Word } from '../../slack/commands/parse.ts'
import {
  nameless,
  replyTo,
  tooLittle,
  tooMuch,
  wordsOf,
  type Interaction,
  type Command,
  type Question,
} from '../kit/command.ts'
import type { Reply } from '../kit/context.ts'
import type { Feature } from '../kit/feature.ts'
import { opening } from '../kit/modal.ts'
import { RUN_CALLBACK_ID, runForm, runView } from './form.ts'
import { answerRun, lookedUpLine } from './messages.ts'
import { startRun, lookForBuild, type RunDeps, isIncomplete, type Wanted } from './run.ts'
import { CONFIRM_WITHIN_MS, GIVE_UP_MS, type ProjectRequest } from '../../domain/cards/request.ts'
import { checkDueRequests, end, LOOK_LATER_MS } from '../../projects/requests.ts'

export const run = (deps: RunDeps): Feature => ({
  commands: [command(deps)],
  forms: {
    [RUN_CALLBACK_ID]: runForm((wanted, by, reference) =>
      answerWanted(deps, { by, reference, modalOpener: null }, wanted),
    ),
  },
  jobs: [{ name: 'confirm-runs', cron: '*/15 * * * * *', afterNews: true, run: () => confirmRuns(deps) }],
})

const command = (deps: RunDeps): Command => ({
  name: 'run',
  alias: null,
  group: 'Act',
  usage: 'project@branch [name=value …]',
  does: 'starts a workflow or pipeline on a branch or tag',
  examples: ['/ci run acme/web CI@main', '/ci run acme/web Deploy@v1.4 environment=staging', '/ci run acme/web CI'],
  who: 'approvers',
  notes: [
    'A form opens if the branch or a required input is missing. A value with blanks needs quotes: `"note=two words"`.',
    'GitHub starts workflows that have `workflow_dispatch`; GitLab takes inputs and variables. The CI service cannot start builds.',
    'Never type a secret: Slack keeps what you type. An input that looks like one is refused.',
  ],
  handle: (question) => answerTyped(deps, question, question.words),
  choose: (question, choice) =>
    choice.kind === 'project'
      ? answerWanted(deps, question, { project: choice.project, ref: choice.branch, values: valuesIn(wordsOf(choice)) })
      : answerTyped(deps, question, []),
})

/** `acme/web CI@main environment=staging`: the words before the first value name the project and its branch. */
async function answerTyped(deps: RunDeps, question: Question, words: readonly Word[]): Promise<Reply> {
  const { row } = question
  if (words.includes(CUT)) return tooMuch(row, CUT.text)
  const named = words.filter((word) => !PAIR.test(textOf(word)))
  if (named.length === 0) return tooLittle(row, 'a project')
  const [project, ref] = partAt(named.map(({ text }) => text).join(' '))
  if (project === '' || ref === '') return nameless(row, project || null)
  return answerWanted(deps, question, { project: project.trim(), ref, values: valuesIn(words) })
}

const PAIR = /^[^\s=]+=/

/** As it was typed: marks and punctuation may belong to a value. */
const textOf = ({ text, typed }: Word): string => (typed !== undefined && PAIR.test(typed) ? typed : text)

const valuesIn = (words: readonly Word[]): Wanted['values'] =>
  Object.fromEntries(
    words
      .map(textOf)
      .filter((text) => PAIR.test(text))
      .map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
  )

/** Starts it. If more has to be said, a form asks for it, where Slack opens one. */
async function answerWanted(
  deps: RunDeps,
  { by, reference, modalOpener }: Interaction,
  wanted: Wanted,
): Promise<Reply> {
  const outcome = await startRun(deps, wanted, by)
  const view = outcome.kind === 'faults' && isIncomplete(outcome.faults) ? runView(outcome, by.channel) : null
  // Slack opens a form only within three seconds, and the source may have taken longer: then the answer says what is missing.
  if (view && modalOpener) {
    const opened = await opening(reference, async () => {
      await modalOpener.open(view)
      return { outcome: 'form', answer: null }
    })
    if (opened.answer === null) return opened
  }
  const rest = Object.entries(wanted.values).map(([name, value]) => `${name}=${value}`)
  return replyTo(outcome, answerRun(outcome, { command: 'run', branch: wanted.ref, rest, reference }))
}

/** Looks for the builds of runs with an unknown outcome, and tells the people who wanted them. See `checkDueRequests`. */
export const confirmRuns = (deps: RunDeps): Promise<void> =>
  checkDueRequests(deps, deps.store.read.projectRequestsToCheck, async (request) => {
    if (request.action === 'run') await confirm(deps, request)
  })

async function confirm(deps: RunDeps, request: ProjectRequest): Promise<void> {
  const seen = await lookForBuild(deps, request)
  const { id, project, requestedBy: by, requestedAt, state } = request
  const now = deps.clock.now()
  if (seen.kind !== 'shown') {
    const lookAt = now + LOOK_LATER_MS
    const mayShowLater = now < requestedAt + CONFIRM_WITHIN_MS + (seen.kind === 'away' ? GIVE_UP_MS : 0)
    // A process that has died during its call leaves the outcome unclear.
    if (mayShowLater && state === 'calling') return end(deps, request, { kind: 'unclear', code: 'interrupted', lookAt })
    if (mayShowLater) return end(deps, request, { kind: 'look-later', lookAt })
    await end(deps, request, { kind: 'not-shown', code: seen.kind === 'away' ? 'cannot-look' : 'not-shown' })
  }
  const sent = await deps.sendText(by, lookedUpLine(request, seen.kind === 'shown' ? seen.done : null))
  deps.log.warn({ request: id, action: 'run', project, by, seen: seen.kind, told: sent.kind }, 'a run was looked up')
}
