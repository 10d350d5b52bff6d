import { codeSpan, toLine } from '../../lib/escape.ts'
import { branchName, joined, outside, projectLabel } from '../../slack/messages/build.ts'
import { projectKey } from '../../domain/ci-project/project-names.ts'
import { cut, TITLE_CHARS_MAX } from '../../slack/messages/limits.ts'
import {
  answerOf,
  answerError,
  line,
  type Answer,
  type AnswerContext,
  type Part,
  type Picture,
} from '../../slack/messages/answer.ts'
import { failureWords } from '../kit/fault-messages.ts'
import { answerNotFound, choices, isNotFound, projectChoice } from '../kit/not-found.ts'
import type { BadgeOutcome } from './badge.ts'

type ShownBadge = Extract<BadgeOutcome, { kind: 'badge' }>

/** The badge's state, and its Markdown to copy. */
export function answerBadge(outcome: BadgeOutcome, context: AnswerContext): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, context)
  switch (outcome.kind) {
    case 'badge':
      return context.rest?.includes(PICTURE)
        ? answerOf(partsOf(outcome), pictureOf(outcome))
        : answerOf([...partsOf(outcome), ...pictureButton(outcome, context)])
    case 'no-site':
      return answerError(NO_SITE)
    case 'no-uuid':
      return answerError(noUuid(outcome))
  }
}

const NO_SITE = {
  what: ':warning: *No badge*: Buildline does not know the address of the CI site.',
  why: "Badges come from CI's site.",
  next: 'Ask the person who runs Buildline to set CI_SITE_URL.',
}

const noUuid = ({ project }: Extract<BadgeOutcome, { kind: 'no-uuid' }>) => ({
  what: `:warning: *No badge* for ${projectLabel({ project: project.name })}.`,
  ...(project.type === 'github' ? OF_GITHUB : project.type === 'gitlab' ? OF_GITLAB : OF_CI),
})

const OF_CI = {
  why: "A badge's address needs the project's uuid, which CI has not given.",
  next: "Copy the badge from the project's page in CI.",
}

const OF_GITLAB = {
  why: "A pipeline's badge comes from GitLab.",
  next: "Copy it from the project's Settings → CI/CD → General pipelines.",
}

const OF_GITHUB = {
  why: "A workflow's badge comes from GitHub, which shows that of a private repository to its members only.",
  next: 'Copy it from the page of the workflow: … → Create status badge.',
}

const partsOf = (badge: ShownBadge) => [
  line(`:label: ${subjectOf(badge)}: *${outside(stateIn(badge), TITLE_CHARS_MAX) || 'state unknown'}*`),
  line(doubtOf(badge)),
  line('Markdown'),
  line(codeBlock(badge.markdown)),
]

const subjectOf = ({ project, branch }: ShownBadge): string =>
  joined([projectLabel({ project: project.name }), branch === null ? null : branchName(branch)], ' ')

/** `passing`, where the badge says `build: passing`. */
const stateIn = ({ words }: ShownBadge): string | null => words && words.replace(/^build:? /i, '')

/** What is uncertain about the badge; empty if nothing is. */
function doubtOf({ found, failure, words }: ShownBadge): string {
  switch (found) {
    case 'yes':
      return ''
    case 'no-project':
      return "CI's site does not know this project."
    case 'no-branch':
      return "CI's site has no build of this branch."
    case 'unknown':
      return joined(
        [
          failure === null
            ? 'The badge could not be read.'
            : `The badge could not be fetched. ${failureWords(failure.code).why}`,
          words === null ? null : 'The state above is that of the last known build.',
        ],
        ' ',
      )
  }
}

/** The longest escaped text that is shown for copying. A longer one is left out, since a cut one would not work. */
export const CODE_CHARS_MAX = 2_500

function codeBlock(text: string): string {
  const code = codeSpan(text)
  return code.length > CODE_CHARS_MAX ? 'Too long to show here.' : `\`\`${code}\`\``
}

/** The word with which the choice of a badge also asks for its picture. */
const PICTURE = 'picture'

/** Answers only one person until they press it: the picture is posted for everybody. */
function pictureButton({ picture, project, branch }: ShownBadge, { command }: AnswerContext): Part[] {
  const choice = projectChoice({ command, branch, rest: [PICTURE], reference: '' }, projectKey(project), 'Show it here')
  return picture === null ? [] : choices([choice])
}

function pictureOf(badge: ShownBadge): Picture | null {
  if (badge.picture === null) return null
  const { project, branch, words } = badge
  const about = [project.name, ...(branch === null ? [] : [`on ${branch}`])].join(' ')
  const alt = cut(toLine(`${about}: ${words ?? 'build state'}`), ALT_CHARS_MAX)
  return { png: badge.picture, name: 'badge.png', alt }
}

/** The longest alt text of a picture, in code points. */
export const ALT_CHARS_MAX = 300
