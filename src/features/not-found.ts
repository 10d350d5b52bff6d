import { assertNever } from '../lib/assert.ts'
import type { NotFound } from '../catalog/outcomes.ts'
import { onBranch, outside, projectName } from '../slack/messages/build.ts'
import { PROJECT_CHARS_MAX } from '../slack/messages/limits.ts'
import { answerTrouble, type Answer, type AskedWith, type Part, type Trouble } from '../slack/messages/answer.ts'
import { buildLine } from './build.ts'
import { buildChoice, choices, CHOICES_MAX, projectChoice } from './choices.ts'
import { nameToChoose, projectLine } from './project.ts'
import { typed } from '../slack/messages/typed.ts'

/** What was asked about could not be told: what is missing, or the choice there is, as buttons. */
export const answerNotFound = (outcome: NotFound, asked: AskedWith): Answer =>
  answerTrouble(troubleOf(outcome, asked), asked.reference)

/** Whether an outcome is one of these, whatever else it could be. */
export const isNotFound = (outcome: { kind: string }): outcome is NotFound => Object.hasOwn(NOT_FOUND, outcome.kind)

const NOT_FOUND: Record<NotFound['kind'], true> = {
  'no-project': true,
  'several-projects': true,
  'several-builds': true,
  'no-build': true,
  'unknown-build': true,
  'no-card': true,
}

function troubleOf(outcome: NotFound, asked: AskedWith): Trouble {
  switch (outcome.kind) {
    case 'no-project':
      return noProject(outcome, asked)
    case 'several-projects':
      return severalProjects(outcome, asked)
    case 'several-builds':
      return severalBuilds(outcome, asked)
    case 'no-build':
      return noBuild(outcome, asked)
    case 'unknown-build':
      return {
        what: `:mag: *No build* answers to ${typed(outcome.text)}.`,
        why: KNOWN_BUILDS,
        next: `Name its project: ${typed(`/ci ${asked.command} project@branch`)}.`,
      }
    case 'no-card':
      return {
        what: ":mag: *No build here*: this message is none of Buildline's build cards, nor in the thread of one.",
        why: null,
        next: `Ask on a build's card or in its thread, or type ${typed(`/ci ${asked.command} project@branch`)}.`,
      }
    default:
      return assertNever(outcome)
  }
}

const KNOWN_BUILDS = 'Buildline knows the builds that CI has told it of.'

function noProject(outcome: Extract<NotFound, { kind: 'no-project' }>, asked: AskedWith): Trouble {
  const { text, nearest, isListRead } = outcome
  const what = `:mag: *No project* answers to ${typed(text)}.`
  const why = isListRead ? null : "CI's list of projects could not be read yet: the project may be there all the same."
  if (nearest === null) {
    const next = isListRead ? 'to see all projects' : 'to see why'
    return { what, why, next: `Type ${typed('/ci list')} ${next}.` }
  }
  const next = `Did you mean ${outside(nearest, PROJECT_CHARS_MAX)}? Then type ${typed(commandWith(asked, nearest))}.`
  return { what, why, next, parts: choices([projectChoice(asked, nearest, nearest)]) }
}

function severalProjects(outcome: Extract<NotFound, { kind: 'several-projects' }>, asked: AskedWith): Trouble {
  const { projects, more, text } = outcome
  const left = more + Math.max(0, projects.length - CHOICES_MAX)
  const shown = projects.slice(0, CHOICES_MAX)
  const buttons = choices(shown.map((project) => projectChoice(asked, nameToChoose(project), project.name)))
  return {
    what: `:mag: *${projects.length + more} projects* answer to ${typed(text)}.`,
    why: [...shown.map((project, at) => `${at + 1}. ${projectLine(project)}`), ...andMore(left)],
    next: nextOf(buttons, left, `type ${typed(typedName(asked))} with more of the name`),
    parts: buttons,
  }
}

function severalBuilds({ text, builds }: Extract<NotFound, { kind: 'several-builds' }>, asked: AskedWith): Trouble {
  const shown = builds.slice(0, CHOICES_MAX)
  const buttons = choices(shown.map((build) => buildChoice(asked, build)))
  const left = builds.length - shown.length
  return {
    what: `:mag: *${builds.length} builds* answer to ${typed(text)}.`,
    why: [...shown.map((build, at) => `${at + 1}. ${buildLine(build)}`), ...andMore(left)],
    next: nextOf(buttons, left, `type ${typed(`/ci ${asked.command} project@branch`)}`),
    parts: buttons,
  }
}

/** Choosing, where the buttons are all that is needed; else typing more. */
function nextOf(buttons: readonly Part[], left: number, typing: string): string {
  if (buttons.length === 0) return `T${typing.slice(1)}.`
  return left === 0 ? 'Choose one.' : `Choose one, or ${typing}.`
}

const andMore = (left: number): string[] => (left > 0 ? [`… and ${left} more`] : [])

function noBuild({ project, branch, nearest }: Extract<NotFound, { kind: 'no-build' }>, asked: AskedWith): Trouble {
  const what = `:mag: *No build yet* of ${projectName({ project })}${onBranch({ branch })}.`
  const why = KNOWN_BUILDS
  if (nearest === null) return { what, why, next: branch === null ? FIRST_BUILD : branchesOf(project) }
  const meant = { ...asked, branch: nearest }
  const next = `Did you mean ${typed(nearest)}? Then type ${typed(commandWith(meant, project))}.`
  return { what, why, next, parts: choices([projectChoice(meant, project, nearest)]) }
}

const FIRST_BUILD = 'Push a commit: its build shows here once CI tells of it.'

const branchesOf = (project: string): string => `Type ${typed(`/ci status ${project}`)} to see its branches.`

/** As a person would type it. */
const commandWith = (asked: AskedWith, project: string): string =>
  [`${typedName(asked)} ${project}${asked.branch === null ? '' : `@${asked.branch}`}`, ...(asked.rest ?? [])].join(' ')

/** Rules alone would list them: a project is named to try them. */
const typedName = ({ command }: AskedWith): string => (command === 'rules' ? '/ci rules test' : `/ci ${command}`)
