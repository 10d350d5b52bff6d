import type { ProjectRef } from '../domain/ci-project/project-names.ts'
import { partAt, type Word } from '../slack/commands/parse.ts'
import type { Reads } from '../store/store.ts'
import { findProject, projectsCalled } from './projects.ts'

/** A project is among this many first words, since at most `on it 30m` comes before it. */
const WORDS_BEFORE_MAX = 4

/**
 * The words of a command, with the marks, dashes and punctuation that belong to a known name put back: a project or
 * branch may really be called `main,` or `*main*`.
 */
export async function withKnownNames(reads: Reads, words: readonly Word[]): Promise<readonly Word[]> {
  if (!words.some(({ typed }) => typed !== undefined)) return words
  const known: Word[] = []
  let project: ProjectRef | null = null
  for (const [at, word] of words.entries()) {
    const [name, branch] = partAt(word.text)
    const [typedName, typedBranch] = partAt(word.typed ?? word.text)
    if (project) {
      const typed = word.typed?.replace(/^@/, '')
      known.push(
        typed !== undefined && (await hasBranch(reads, project, typed)) ? { ...word, text: word.typed! } : word,
      )
      continue
    }
    const isKnown = word.typed !== undefined && (await projectsCalled(reads, typedName)).length > 0
    const ownName = isKnown ? typedName : name
    project = isKnown || at < WORDS_BEFORE_MAX ? await projectFor(reads, ownName) : null
    const isBranch = project !== null && typedBranch !== null && (await hasBranch(reads, project, typedBranch))
    const ownBranch = isBranch ? typedBranch : branch
    const text = `${ownName}${ownBranch === null ? '' : `@${ownBranch}`}`
    known.push({ ...word, text })
  }
  return known
}

async function projectFor(reads: Reads, name: string): Promise<ProjectRef | null> {
  const named = await findProject(reads, name)
  return named.kind === 'project' ? named.project : null
}

const hasBranch = async (reads: Reads, { projectId }: ProjectRef, branch: string): Promise<boolean> =>
  projectId !== null && branch !== '' && (await reads.newestBuild(projectId, branch)) !== null
