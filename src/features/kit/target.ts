import type { Target as Named } from '../../projects/outcomes.ts'
import { isShortId, isUuid, toUuid } from '../../domain/ids.ts'
import { CUT, partAt, type Word } from '../../slack/commands/parse.ts'

/** A command's target as typed. It may not exist. */
export type TypedTarget =
  | { kind: 'none' }
  | Exclude<Named, { kind: 'run' | 'message' }>
  /** the name of a branch of this project, or (null) of a project, is empty */
  | { kind: 'nameless'; project: string | null }
  /** the first surplus word, which may mean another target */
  | { kind: 'unclear'; extra: string }

/**
 * Reads `acme/web`, `acme/web@fix/login`, `acme/web fix/login`, `#512`, a build's address or a uuid. The first `@` that
 * is not the first character separates project and branch; `acme/web@@login` is the branch `@login`. An empty branch,
 * as in `acme/web@` or `acme/web ""`, does not mean any branch.
 */
export function parseTarget(words: readonly Word[]): TypedTarget {
  const [first, second, third] = words
  if (!first) return { kind: 'none' }
  if (words.includes(CUT)) return { kind: 'unclear', extra: CUT.text }
  if (first.text === '') return { kind: 'nameless', project: null }
  const target = readOne(first)
  if (!second) return target
  const both = withSecond(target, second)
  if (!both) return { kind: 'unclear', extra: second.text }
  return third ? { kind: 'unclear', extra: third.text } : both
}

function readOne(word: Word): TypedTarget {
  const url = findBuildUrl(word)
  if (url !== null) return { kind: 'build-url', url }
  const [project, branch] = partAt(word.text)
  if (branch !== null) return ofBranch(nameOf(project), branch)
  const [, before = '', number] = NUMBERED.exec(project) ?? []
  if (number !== undefined && isShortId(number)) return { kind: 'build-number', number, project: before || null }
  return isUuid(project) ? { kind: 'uuid', uuid: toUuid(project) } : { kind: 'project', project, branch: null }
}

const NUMBERED = /^([^#]*)#(\d+|[\da-f]{8})$/

// Git allows no branch named `@`, so `@` alone is an empty name.
const ofBranch = (project: string, branch: string): TypedTarget =>
  branch === '' || branch === '@' ? { kind: 'nameless', project } : { kind: 'project', project, branch }

const nameOf = (project: string): string => (isUuid(project) ? toUuid(project) : project)

/** The address of a build: one that was typed as an address, or linked text whose path ends as a build's does. */
function findBuildUrl({ text, url }: Word): string | null {
  if (WEB_ADDRESS.test(text) && URL.canParse(text)) return url ?? text
  return url !== undefined && BUILD_PATH.test(new URL(url).pathname) ? url : null
}

const WEB_ADDRESS = /^https?:\/\/\S+$/i
const BUILD_PATH = /\/builds\/[^/@]+\/?$|\/(?:actions\/runs|-\/pipelines)\/\d+(?:\/|$)/

/** A project and the word after it; null if no second word can follow. */
function withSecond(target: TypedTarget, second: Word): TypedTarget | null {
  const project = projectOf(target)
  if (project === null || findBuildUrl(second) !== null) return null
  // `acme/web@ main`
  if (target.kind === 'nameless') return ofBranch(project, second.text)
  const [, before, number] = NUMBERED.exec(second.text) ?? []
  if (number !== undefined && before === '' && isShortId(number)) return { kind: 'build-number', number, project }
  // `acme/web @main`
  return ofBranch(project, second.text.replace(/^@/, ''))
}

function projectOf(target: TypedTarget): string | null {
  if (target.kind === 'uuid') return target.uuid
  if (target.kind === 'nameless') return target.project
  return target.kind === 'project' && target.branch === null ? target.project : null
}
