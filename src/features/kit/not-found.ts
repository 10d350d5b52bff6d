import { SEARCHED_MAX } from '../../projects/projects.ts'
import type { NotFound, BuildSummary } from '../../projects/outcomes.ts'
import { projectKey } from '../../domain/ci-project/project-names.ts'
import { onBranch, outside, projectLabel } from '../../slack/messages/build.ts'
import { PROJECT_CHARS_MAX, cut } from '../../slack/messages/limits.ts'
import {
  answerError,
  type Answer,
  type AnswerContext,
  type Part,
  type ErrorAnswer,
  typed,
  row,
} from '../../slack/messages/answer.ts'
import { buildLine, projectLine } from './build.ts'
import { KNOWN_BUILDS, unknownBuild } from './slips.ts'
import { CHOICE_ACTION_IDS, CHOICES_BLOCK_ID } from '../../slack/messages/ids.ts'
import { choiceValue, type Choice } from './values.ts'
import { escapePlain, toLine } from '../../lib/escape.ts'
import { plain, type ActionButton } from '../../slack/messages/blocks.ts'

/** Nothing matched, or several things did: the answer names what is missing, or offers the choices as buttons. */
export const answerNotFound = (outcome: NotFound, context: AnswerContext): Answer =>
  answerError(errorOf(outcome, context))

/** Whether any outcome is a NotFound. */
export const isNotFound = (outcome: { kind: string }): outcome is NotFound => Object.hasOwn(NOT_FOUND, outcome.kind)

const NOT_FOUND: Record<NotFound['kind'], true> = {
  'no-project': true,
  'several-projects': true,
  'several-builds': true,
  'no-build': true,
  'unknown-build': true,
  'unknown-address': true,
  'no-card': true,
}

function errorOf(outcome: NotFound, context: AnswerContext): ErrorAnswer {
  switch (outcome.kind) {
    case 'no-project':
      return noProject(outcome, context)
    case 'several-projects':
      return severalProjects(outcome, context)
    case 'several-builds':
      return severalBuilds(outcome, context)
    case 'no-build':
      return noBuild(outcome, context)
    case 'unknown-build':
      return unknownBuild(outcome.text, context.command)
    case 'unknown-address':
      return {
        what: `:mag: *I don't know that CI address*: ${typed(outcome.text)}.`,
        why: null,
        next: `Name the build's project: ${typed(`/ci ${context.command} project@branch`)}.`,
      }
    case 'no-card':
      return {
        what: ":mag: *No build here*: this message is not a build card, and not in a card's thread.",
        why: null,
        next: `Use a build's card or its thread, or type ${typed(`/ci ${context.command} project@branch`)}.`,
      }
  }
}

function noProject(outcome: Extract<NotFound, { kind: 'no-project' }>, context: AnswerContext): ErrorAnswer {
  const { text, nearest, isListRead } = outcome
  const what = `:mag: *No project matches* ${typed(text)}.`
  const why = isListRead ? null : "CI's list of projects could not be read yet, so the project may exist."
  if (nearest === null) {
    const next = isListRead ? 'to see all projects' : 'to see why'
    return { what, why, next: `Type ${typed('/ci list')} ${next}.` }
  }
  const next = `Did you mean ${outside(nearest, PROJECT_CHARS_MAX)}? Then type ${typed(commandWith(context, nearest))}.`
  return { what, why, next, parts: choices([projectChoice(context, nearest, nearest)]) }
}

function severalProjects(
  outcome: Extract<NotFound, { kind: 'several-projects' }>,
  context: AnswerContext,
): ErrorAnswer {
  const { projects, more, text } = outcome
  const count = projects.length + more
  const isMore = count >= SEARCHED_MAX
  const buttons = choices(projects.map((project) => projectChoice(context, projectKey(project), project.name)))
  return {
    what: `:mag: *${isMore ? 'At least ' : ''}${count} projects* match ${typed(text)}.`,
    why: [
      ...numbered(projects.map(projectLine)),
      ...(more > 0 ? [`… and ${isMore ? 'at least ' : ''}${more} more`] : []),
    ],
    next: nextOf(buttons, more, `type ${typed(typedName(context))} with more of the name`),
    parts: buttons,
  }
}

function severalBuilds(outcome: Extract<NotFound, { kind: 'several-builds' }>, context: AnswerContext): ErrorAnswer {
  const { text, builds } = outcome
  const buttons = choices(builds.map((build) => buildChoice(context, build)))
  return {
    what: `:mag: *${builds.length} builds* match ${typed(text)}.`,
    why: numbered(builds.map(buildLine)),
    next: nextOf(buttons, 0, `type ${typed(`/ci ${context.command} project@branch`)}`),
    parts: buttons,
  }
}

const numbered = (lines: readonly string[]): string[] => lines.map((words, at) => `${at + 1}. ${words}`)

/** The next step: choose a button if the buttons cover all matches, else (also) type more. */
function nextOf(buttons: readonly Part[], left: number, typing: string): string {
  if (buttons.length === 0) return `T${typing.slice(1)}.`
  return left === 0 ? 'Choose one.' : `Choose one, or ${typing}.`
}

function noBuild(
  { project, branch, nearest }: Extract<NotFound, { kind: 'no-build' }>,
  context: AnswerContext,
): ErrorAnswer {
  const what = `:mag: *No build yet* for ${projectLabel({ project })}${onBranch({ branch })}.`
  const why = KNOWN_BUILDS
  if (nearest === null) return { what, why, next: branch === null ? FIRST_BUILD : branchesOf(project) }
  const meant = { ...context, branch: nearest }
  const next = `Did you mean ${typed(nearest)}? Then type ${typed(commandWith(meant, project))}.`
  return { what, why, next, parts: choices([projectChoice(meant, project, nearest)]) }
}

const FIRST_BUILD = 'Push a commit: its build shows up here once it is reported.'

const branchesOf = (project: string): string => `Type ${typed(`/ci status ${quoted(project)}`)} to see its branches.`

/** Quotes a name with spaces, whose second word would be read as a branch. */
const quoted = (project: string): string => (/\s/.test(project) ? `"${project}"` : project)

/** The command as a person would type it. */
const commandWith = (context: AnswerContext, project: string): string =>
  [
    `${typedName(context)} ${quoted(project)}${context.branch ? `@${context.branch}` : ''}`,
    ...(context.rest ?? []),
  ].join(' ')

/** `/ci rules` lists rules; only `/ci rules test` takes a project. */
const typedName = ({ command }: AnswerContext): string => (command === 'rules' ? '/ci rules test' : `/ci ${command}`)

const LABEL_CHARS_MAX = 60

/** What a button requests, and its text. */
interface Labelled {
  choice: Choice
  label: string
}

export const projectChoice = (
  { command, branch = null, rest }: AnswerContext,
  project: string,
  label: string,
): Labelled => ({
  choice: { kind: 'project', command, project, branch, ...(rest && { rest }) },
  label,
})

export const buildChoice = ({ command }: AnswerContext, { ref, project, buildId }: BuildSummary): Labelled => ({
  choice: { kind: 'run', command, ref },
  label: `#${buildId} ${project}`,
})

/** A row of buttons; empty if one of the choices does not fit into a button, since its absence would not be noticed. */
export function choices(labelled: readonly Labelled[]): Part[] {
  const buttons = labelled.flatMap(({ choice, label }, at) => buttonOf(choice, label, at, labelled.length > 1))
  return buttons.length === 0 || buttons.length < labelled.length ? [] : [row(CHOICES_BLOCK_ID, buttons)]
}

function buttonOf(choice: Choice, label: string, at: number, isNumbered: boolean): ActionButton[] {
  const value = choiceValue(choice)
  const id = CHOICE_ACTION_IDS[at]
  if (value === null || id === undefined) return []
  const name = cut(toLine(label), LABEL_CHARS_MAX)
  const text = plain(escapePlain(isNumbered ? `${at + 1}. ${name}` : name) || '(no name)')
  return [{ type: 'button', action_id: id, text, value }]
}
