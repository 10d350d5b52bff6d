import { CONFIRM_WITHIN_MS, type ProjectRequest } from '../../domain/cards/request.ts'
import { sourceOf, type SourceName } from '../../domain/ids.ts'
import { mrkdwnLink } from '../../lib/escape.ts'
import type { Startable } from '../../sources/source.ts'
import {
  answerError,
  answerOf,
  line,
  small,
  typed,
  type Answer,
  type AnswerContext,
} from '../../slack/messages/answer.ts'
import { branchName, firstFew, outside, projectLabel, somebody } from '../../slack/messages/build.ts'
import { INLINE_URL_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime, durationWords } from '../../slack/messages/times.ts'
import { SOURCE_NAMES, withSourceName } from '../../slack/messages/words.ts'
import { answerCiFailure, ciReason, failureWords, unclearReason } from '../kit/fault-messages.ts'
import { answerRefused } from '../kit/not-allowed.ts'
import { answerNotFound, isNotFound } from '../kit/not-found.ts'
import type { Run, RunOutcome, Seen } from './run.ts'
import type { InputFault } from './values.ts'

type Of<Kind extends RunOutcome['kind']> = Extract<RunOutcome, { kind: Kind }>

/** The answer to a person who wants to start a build. */
export function answerRun(outcome: RunOutcome, context: AnswerContext): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, context)
  switch (outcome.kind) {
    case 'started':
      return answerOf([
        line(`:rocket: *Started*: ${runWords(outcome.run)}, ${linkedNumber(outcome)}`),
        ...inputsPart(outcome.run),
      ])
    case 'accepted':
      return answerOf([
        line(`:rocket: *Started*: ${runWords(outcome.run)}`),
        line(`${sourceName(outcome.run)} does not show it yet. You will get a message with the link.`),
        ...inputsPart(outcome.run),
      ])
    case 'several':
      return answerError({
        what: `:rocket: *Started*: ${runWords(outcome.run)}`,
        why: SEVERAL,
        next: `Look for it in ${sourceName(outcome.run)}.`,
      })
    case 'unclear':
      return answerError(
        {
          what: `:grey_question: *Not clear yet* whether it was started: ${runWords(outcome.run)}`,
          why: withSourceName(outcome.run.source, unclearReason(outcome.code)),
          next: `Wait for a message, within ${WAIT}: Buildline looks it up and does not start it twice.`,
        },
        context.reference,
      )
    case 'ci-refused':
      return refused(outcome, context.reference)
    case 'asked-already':
      return answerError({
        what: `:hourglass: *Being started already*: ${projectLabel(outcome)}`,
        why: `${somebody(outcome.by)} asked for it ${dayTime(outcome.at)}, and its outcome is not known yet.`,
        next: `Try again in ${WAIT}.`,
      })
    case 'incomplete':
      return incomplete(outcome)
    case 'faults':
      return answerError({
        what: `:warning: *Not started*: ${projectLabel({ project: outcome.project.name })}${at(outcome.offered.place.ref)}`,
        why: outcome.faults.map(faultWords),
        next: outcome.faults.some(({ why }) => why === 'secret')
          ? `Keep secrets in ${pageLink(outcome.project.projectId, outcome.offered.page)}. If one was just typed, replace it: Slack has it now.`
          : 'Correct it and type it again.',
      })
    case 'not-startable':
      return notStartable(outcome)
    case 'cannot-run':
      return cannotRun(outcome)
    case 'ci-trouble':
      return answerCiFailure(outcome, ':warning: *CI could not be read*: nothing was started.', context.reference)
    case 'forbidden':
    case 'unknown-person':
      return answerRefused(outcome, context.reference)
  }
}

const WAIT = durationWords(CONFIRM_WITHIN_MS)
const SEVERAL = 'Several builds were started there at the same time, so Buildline cannot tell which one it is.'

const at = (ref: string): string => ` on ${branchName(ref)}`
const runWords = ({ project, ref }: Pick<Run, 'project' | 'ref'>): string => `${projectLabel({ project })}${at(ref)}`
const sourceName = ({ source }: Pick<Run, 'source'>): string => SOURCE_NAMES[source]

const linkedNumber = ({ number, url }: { number: string; url: string | null }): string =>
  mrkdwnLink(url, outside(`#${number}`, WORD_CHARS_MAX), INLINE_URL_CHARS_MAX)

const inputsPart = ({ inputs }: Run) =>
  inputs.length === 0
    ? []
    : [
        small(
          `With ${firstFew(
            inputs.map((name) => outside(name, WORD_CHARS_MAX)),
            NAMES_MAX,
          )}`,
        ),
      ]

/** The most names of inputs or values that one line lists. */
const NAMES_MAX = 10

/** `GitHub`, as a link to the page where people start a build there. */
const pageLink = (projectId: string | null, page: string | null): string =>
  mrkdwnLink(page, SOURCE_NAMES[sourceOf(projectId)], INLINE_URL_CHARS_MAX)

function refused({ run, code, reason }: Of<'ci-refused'>, reference: string): Answer {
  const { why, next } = failureWords(code)
  return answerError(
    {
      what: `:warning: *${sourceName(run)} refused*: ${runWords(run)} was not started`,
      why: [
        code === 'forbidden' ? RIGHT[run.source] : code === 'bad-request' ? '' : withSourceName(run.source, why),
        ...ciReason(reason, run.source),
      ].filter(Boolean),
      next:
        code === 'forbidden'
          ? 'Ask a workspace admin to give it that right.'
          : code === 'bad-request'
            ? 'Correct what it says, and type it again.'
            : withSourceName(run.source, next),
    },
    reference,
  )
}

const RIGHT: Record<SourceName, string> = {
  ci: '',
  github: "Buildline's token needs the permission *Actions: write* to start a workflow.",
  gitlab: "Buildline's token needs the scope `api` and a role that may run pipelines on this branch.",
}

function incomplete({ project, offered, missing, wanted }: Of<'incomplete'>): Answer {
  const { name } = project
  const given = Object.entries(wanted.values).map(([key, value]) => `${key}=${value}`)
  const words = [`"${name}"@${offered.place.ref}`, ...given, ...missing.map((key) => `${key}=…`)]
  return answerError({
    what: `:pencil2: *Not started yet*: ${projectLabel({ project: name })}`,
    why: missing.length === 0 ? 'No branch was named.' : `It needs ${names(missing)}.`,
    next: `Type ${typed(`/ci run ${words.join(' ')}`)}.`,
  })
}

const names = (all: readonly string[]): string => firstFew(all.map(typed), NAMES_MAX)

function faultWords({ name, why, options }: InputFault): string {
  switch (why) {
    case 'secret':
      return `${typed(name)} looks like a secret, and secrets are never typed into Slack.`
    case 'unknown':
      return options.length === 0
        ? `It takes no inputs, so no ${typed(name)}.`
        : `It has no input ${typed(name)}, but ${names(options)}.`
    case 'choice':
      return `${typed(name)} can be ${names(options)}.`
    case 'number':
      return `${typed(name)} has to be a number.`
  }
}

const NOT_STARTABLE: Record<Exclude<Startable['kind'], 'startable'>, { why: string; next: string }> = {
  'no-ref': { why: 'There is no such branch or tag.', next: 'Check the name, and type it again.' },
  'no-file': { why: 'The workflow does not exist there.', next: 'Name a branch that has it.' },
  'no-trigger': {
    why: 'The workflow cannot be started by hand there.',
    next: 'Add `workflow_dispatch` to the `on:` of its file, on this branch and on the default branch.',
  },
  unreadable: { why: 'Its file there is not valid YAML, or too large.', next: 'Correct the file, or start it' },
}

function notStartable({ project, why: { kind, ref, page } }: Of<'not-startable'>): Answer {
  const { why, next } = NOT_STARTABLE[kind]
  return answerError({
    what: `:mag: *Not started*: ${projectLabel({ project: project.name })}${at(ref)}`,
    why,
    next: kind === 'unreadable' ? `${next} in ${pageLink(project.projectId, page)}.` : next,
  })
}

function cannotRun({ project, source }: Of<'cannot-run'>): Answer {
  const what = `:no_entry: *Cannot be started from here*: ${projectLabel({ project: project.name })}`
  if (source === 'ci')
    return answerError({
      what,
      why: 'The CI service cannot start a build, only restart one.',
      next: `Push a commit, or type ${typed(`/ci restart "${project.name}"@branch`)}.`,
    })
  return answerError({
    what,
    why: `${SOURCE_NAMES[source]} cannot be called: ${source === 'github' ? 'GITHUB_TOKEN' : 'GITLAB_TOKEN'} is not set.`,
    next: 'Ask the person who runs Buildline to set it.',
  })
}

/** Sent to a person whose run had an unknown outcome: what the source shows now. */
export function lookedUpLine(
  { project, what, code }: Pick<ProjectRequest, 'project' | 'what' | 'code'>,
  seen: Seen,
): string {
  const words = runWords({ project, ref: what[0] ?? '' })
  if (seen.kind === 'started') return `:rocket: *Started*: ${words}, ${linkedNumber(seen)}`
  if (seen.kind === 'several') return `:grey_question: ${words}: ${SEVERAL} Look for it there.`
  const reason = code === null ? '' : ' Buildline does not start it again.'
  return `:grey_question: *No build is shown* that was started as you asked: ${words}.${reason} Look at the source before you start it again.`
}
