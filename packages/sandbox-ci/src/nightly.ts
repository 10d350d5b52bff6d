import type { BuildLife } from './builds.ts'
import { buildsOf } from './state.ts'
import type { Build, Project } from './state.ts'
import type { World } from './world.ts'

const BRANCH = 'main'

/** Builds the newest commit of `main` of each project again, as a new build; a new commit if there is none yet. */
export function nightly(world: World, life: BuildLife): Build[] {
  const pushes = world.state.projects.map((project) => life.push(project.fields.name, nightlyPush(world, project)))
  return pushes.flatMap((result) => (result.kind === 'build' ? [result.build] : []))
}

function nightlyPush({ state }: World, project: Project) {
  const newest = buildsOf(state, project.id).findLast(({ branch }) => branch === BRANCH)
  if (!newest) return { branch: BRANCH, message: 'Nightly build' }
  const { branch, message, committer, commitId } = newest
  return { branch, message, committer, commitId }
}
