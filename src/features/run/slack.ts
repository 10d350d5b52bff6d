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
import { confirmRuns, type ConfirmRunsDeps } from './confirm.ts'
import { RUN_CALLBACK_ID, runForm, runView } from './form.ts'
import { answerRun } from './messages.ts'
import { startRun } from './run.ts'
import { isIncomplete, type Wanted } from './values.ts'

export const run = (deps: ConfirmRunsDeps): Feature => ({
  commands: [command(deps)],
  forms: {
    [RUN_CALLBACK_ID]: runForm((wanted, by, reference) =>
      answerWanted(deps, { by, reference, modalOpener: null }, wanted),
    ),
  },
  jobs: [{ name: 'confirm-runs', cron: '*/15 * * * * *', afterNews: true, run: () => confirmRuns(deps) }],
})

const command = (deps: ConfirmRunsDeps): Command => ({
  name: 'run',
  alias: null,
  group: 'Act',
  usage: 'project@branch [name=value …]',
  does: 'starts a workflow or pipeline on a branch or tag',
  examples: ['/ci run acme/web CI@main', '/ci run acme/web Deploy@v1.4 environment=staging', '/ci run acme/web CI'],
  who: 'operators',
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
async function answerTyped(deps: ConfirmRunsDeps, question: Question, words: readonly Word[]): Promise<Reply> {
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
  deps: ConfirmRunsDeps,
  { by, reference, modalOpener }: Interaction,
  wanted: Wanted,
): Promise<Reply> {
  const outcome = await startRun(deps, wanted, by)
  const isForm = modalOpener && outcome.kind === 'faults' && isIncomplete(outcome.faults)
  const view = isForm ? runView(outcome, by.channel) : null
  // Slack opens a form only within three seconds, and the source may have taken longer: then the answer says what is missing.
  const opened =
    view &&
    (await opening(reference, async () => {
      await modalOpener!.open(view)
      return { outcome: 'form', answer: null }
    }))
  if (opened?.answer === null) return opened
  const rest = Object.entries(wanted.values).map(([name, value]) => `${name}=${value}`)
  return replyTo(outcome, answerRun(outcome, { command: 'run', branch: wanted.ref, rest, reference }))
}
