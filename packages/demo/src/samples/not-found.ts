import type { NotFound } from '../../../../src/projects/outcomes.ts'
import { buildOf, OTHER_REF, projectOf, type Cast } from './cast.ts'
import type { Cases, Of } from './words.ts'

export const notFound = (cast: Cast): Cases<NotFound> => ({
  'no-project': [
    {
      when: 'no project is called so',
      outcome: { kind: 'no-project', text: cast.typed, nearest: null, isListRead: true },
    },
    {
      when: 'no project is called so, one nearly',
      outcome: { kind: 'no-project', text: cast.typed, nearest: cast.project, isListRead: true },
    },
    {
      when: "no project is called so, and CI's list has not been read yet",
      outcome: { kind: 'no-project', text: cast.typed, nearest: null, isListRead: false },
    },
  ],
  'several-projects': [
    { when: 'several projects are called so', outcome: severalProjects(cast, [cast.project, cast.other], 0) },
    {
      when: 'more are called so than can be offered',
      outcome: severalProjects(cast, [cast.project, cast.other, cast.project, cast.other, cast.project], 7),
    },
  ],
  'several-builds': [{ when: 'several builds have that number', outcome: severalBuilds(cast) }],
  'no-build': [
    {
      when: 'the project has no build',
      outcome: { kind: 'no-build', project: cast.project, branch: null, nearest: null },
    },
    {
      when: 'the branch has no build',
      outcome: { kind: 'no-build', project: cast.project, branch: cast.typed, nearest: null },
    },
    {
      when: 'the branch has no build, one that is called nearly so has',
      outcome: { kind: 'no-build', project: cast.project, branch: cast.typed, nearest: cast.branch },
    },
  ],
  'unknown-build': [
    { when: 'no build has that number or address', outcome: { kind: 'unknown-build', text: cast.number } },
  ],
  'unknown-address': [
    { when: 'the address is not of a known CI', outcome: { kind: 'unknown-address', text: cast.typed } },
  ],
  'no-card': [{ when: 'the message is not a card', outcome: { kind: 'no-card' } }],
})

const severalProjects = (cast: Cast, names: readonly string[], more: number): Of<NotFound, 'several-projects'> => ({
  kind: 'several-projects',
  text: cast.typed,
  projects: names.map((name, at) =>
    projectOf(name, { projectId: String(41 + at), uuid: null, type: at === 1 ? 'pro' : 'basic' }),
  ),
  more,
})

const severalBuilds = (cast: Cast): Of<NotFound, 'several-builds'> => ({
  kind: 'several-builds',
  text: '#512',
  builds: [buildOf(cast), buildOf(cast, 'passed', { project: cast.other, ref: OTHER_REF })],
})

/** The project alone was not found. */
export const noProject = (cast: Cast) => {
  const { 'no-project': none, 'several-projects': several } = notFound(cast)
  return { 'no-project': none, 'several-projects': several } as const
}
