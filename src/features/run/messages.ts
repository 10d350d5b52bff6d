import { CONFIRM_WITHIN_MS, type ProjectRequest } from '../../domain/cards/request.ts'
import type { SourceName } from '../../domain/ids.ts'
import { mrkdwnLink } from '../../lib/escape.ts'
import type { Startable } from '../../sources/source.ts'
import { answerError, answerOf, line, small, typed } from '../../slack/messages/answer.ts'
import type { Answer, AnswerContext } from '../../slack/messages/answer.ts'
import { branchName, firstFew, outside, projectLabel, somebody } from '../../slack/messages/build.ts'
import { INLINE_URL_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime, durationWords } from '../../slack/messages/times.ts'
import { SOURCE_NAMES } from '../../slack/messages/words.ts'
import { answerCiFailure, answerOfSource, failureWords, unclearReason, type Words } from '../kit/fault-messages.ts'
import { answerRefused } from '../kit/not-allowed.ts'
import { answerNotFound, isNotFound } from '../kit/not-found.ts'
import { type Run, type RunOutcome, type Started, isIncomplete, type InputFault } from './run.ts'

type Of<Kind extends RunOutcome['kind']> = Extract<RunOutcome, { kind: Kind }>

/** The answer to a person who wants to start a build. */
export function answerRun(outcome: RunOutcome, context: AnswerContext): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, context)
  switch (outcome.kind) {
    case 'started':
      return started(outcome)
    case 'unclear':
      return unclear(outcome, context.reference)
    case 'ci-refused':
      return refused(outcome, context.reference)
    case 'asked-already': {
      const why = `${somebody(outcome.by)} asked for it ${dayTime(outcome.at)}, and its outcome is not known yet.`
      return notStarted(projectLabel(outcome), { why, next: `Try again in ${WAIT}.` })
    }
    case 'faults':
      return faulty(outcome)
    case 'not-startable':
      return notStarted(runWords({ project: outcome.project, ref: outcome.why.ref }), NOT_STARTABLE[outcome.why.kind])
    case 'cannot-run':
      return notStarted(projectLabel(outcome), CANNOT[outcome.source])
    case 'ci-trouble': {
      const words = startWords(outcome.code, outcome.source ?? 'ci')
      return answerCiFailure(
        outcome,
        ':warning: *CI could not be read*: nothing was started.',
        context.reference,
        words,
      )
    }
    case 'forbidden':
    case 'unknown-person':
      return answerRefused(outcome, context.reference)
  }
}

const WAIT = durationWords(CONFIRM_WITHIN_MS)

const runWords = ({ project, ref }: Pick<Run, 'project' | 'ref'>): string =>
  `${projectLabel({ project })} on ${branchName(ref)}`

const startedWords = (run: Pick<Run, 'project' | 'ref'>, build: Started | null): string => {
  if (build === null) return `:rocket: *Started*: ${runWords(run)}`
  const link = mrkdwnLink(build.url, outside(`#${build.number}`, WORD_CHARS_MAX), INLINE_URL_CHARS_MAX)
  return `:rocket: *Started*: ${runWords(run)}, ${link}`
}

function started({ run, build }: Of<'started'>): Answer {
  const { source, inputs } = run
  return answerOf([
    line(startedWords(run, build)),
    line(build ? '' : `${SOURCE_NAMES[source]} does not show it yet. You will get a message with its link.`),
    small(inputs.length === 0 ? '' : `With ${names(inputs)}`),
  ])
}

function unclear({ run, code }: Of<'unclear'>, reference: string): Answer {
  const what = `:grey_question: *Unclear* whether it was started: ${runWords(run)}`
  const next = `Wait for a message, within ${WAIT}: Buildline looks it up and does not start it twice.`
  return answerOfSource(run.source, { what, why: unclearReason(code), next }, null, reference)
}

const notStarted = (words: string, { why, next }: { why: string | readonly string[]; next: string }): Answer =>
  answerError({ what: `:warning: *Not started*: ${words}`, why, next })

/** The most names or values that one line lists. */
const NAMES_MAX = 10
const names = (all: readonly string[]): string => firstFew(all.map(typed), NAMES_MAX)

function refused({ run, code, reason }: Of<'ci-refused'>, reference: string): Answer {
  const words = code === 'bad-request' ? AS_IT_SAYS : startWords(code, run.source)
  return answerOfSource(run.source, { what: `:x: *Not started*: ${runWords(run)}`, ...words }, reason, reference)
}

const startWords = (code: string, source: SourceName): Words =>
  code === 'forbidden' ? NO_RIGHT[source] : failureWords(code)

const AS_IT_SAYS: Words = { why: 'CI did not accept it.', next: 'Correct what it says, and type it again.' }

const rightWords = (right: string): Words => ({
  why: `Buildline's token may not start builds: that needs ${right}.`,
  next: 'Ask a workspace admin to give it that right.',
})
const NO_RIGHT: Record<SourceName, Words> = {
  ci: rightWords('another interface'),
  github: rightWords('the permissions *Actions: Read and write* and *Contents: Read-only*'),
  gitlab: rightWords('the scope `api`, and a role that may run pipelines on this branch'),
}

function faulty({ project: { name: project }, wanted, offered, faults }: Of<'faults'>): Answer {
  const words = runWords({ project, ref: offered.place.ref })
  const why = faults.map(faultWords)
  if (faults.some((one) => one.why === 'secret'))
    return notStarted(words, {
      why,
      next: 'Keep secrets in the settings of GitHub or GitLab. Replace one that was typed: Slack has it.',
    })
  if (!isIncomplete(faults)) return notStarted(words, { why, next: 'Correct it, and type it again.' })
  const given = Object.entries(wanted.values).map(([name, value]) => `${name}=${value}`)
  const missing = faults.flatMap((one) => (one.why === 'missing' ? `${one.name}=…` : []))
  const example = ['/ci run', `"${project}"@${offered.place.ref}`, ...given, ...missing].join(' ')
  return notStarted(words, { why, next: `Type ${typed(example)}.` })
}

function faultWords({ name, why, options }: InputFault): string {
  switch (why) {
    case 'missing':
      return `It needs ${typed(name)}.`
    case 'no-branch':
      return 'No branch was named.'
    case 'secret':
      return `${typed(name)} looks like a secret, and secrets are never typed into Slack.`
    case 'unknown':
      return `It has no input ${typed(name)}${options.length === 0 ? '' : `, but ${names(options)}`}.`
    case 'choice':
      return `${typed(name)} can be ${names(options)}.`
    case 'number':
      return `${typed(name)} has to be a number.`
  }
}

const NOT_STARTABLE: Record<Exclude<Startable['kind'], 'startable'>, Words> = {
  'no-ref': { why: 'There is no such branch or tag.', next: 'Check the name, and type it again.' },
  'no-trigger': {
    why: 'It cannot be started by hand there: its file is missing, or lacks `workflow_dispatch`.',
    next: 'Add `workflow_dispatch` to the `on:` of its file, there and on the default branch.',
  },
  unreadable: { why: 'Its file there is not valid YAML, or is too large.', next: 'Correct the file.' },
}

const CANNOT: Record<SourceName, Words> = {
  ci: { why: 'The CI service only restarts builds.', next: `Push a commit, or type ${typed('/ci restart')}.` },
  github: { why: 'GITHUB_TOKEN is not set.', next: 'Ask the person who runs Buildline to set it.' },
  gitlab: { why: 'GITLAB_TOKEN is not set.', next: 'Ask the person who runs Buildline to set it.' },
}

/** Sent to a person whose run had an unknown outcome. @param build null: none is certainly it */
export function lookedUpLine(
  { project, what, state }: Pick<ProjectRequest, 'project' | 'what' | 'state'>,
  build: Started | null,
): string {
  const run = { project, ref: what[0] ?? '' }
  if (build !== null) return startedWords(run, build)
  const isTaken = state === 'accepted' ? ' It was accepted.' : ''
  return `:grey_question: *No build was found* that is certainly the one you asked for: ${runWords(run)}.${isTaken} Look there before you start it again.`
}
