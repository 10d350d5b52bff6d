import { createHash } from 'node:crypto'

/** One build as CI would tell it. */
export interface SampleBuild {
  project: number
  build: number
  branch: string
}

export const projectName = (project: number): string => `acme/p${String(project).padStart(2, '0')}`

/** The commit of a build: another one for each. */
export const commitOf = (build: number): string => createHash('sha1').update(`commit ${build}`).digest('hex')

/** The body of a delivery, with every field the interface names. */
export function deliveryBody({ project, build, branch }: SampleBuild, status: string): string {
  const commit = commitOf(build)
  const name = projectName(project)
  return JSON.stringify({
    build: {
      build_url: `https://ci.example.com/projects/${project}/builds/${build}`,
      commit_url: `https://code.example.com/${name}/commit/${commit}`,
      project_id: project,
      build_id: build,
      status,
      project_full_name: name,
      project_name: name,
      commit_id: commit,
      short_commit_id: commit.slice(0, 7),
      message: `Change ${build}: take the long way round\n\nIt is safer, and there is a test for it now.`,
      committer: build % 2 === 0 ? 'ada' : 'grace',
      branch,
    },
  })
}

export const PROJECTS = 20
const BRANCHES = 50

/** The n-th delivery of an endless stream of builds: each is initiated, then ends; one in eight fails. */
export function streamBody(n: number, firstBuild: number): string {
  const build = firstBuild + Math.floor(n / 2)
  const end = build % 8 === 0 ? 'error' : 'success'
  const branch = build % 3 === 0 ? 'main' : `feature-${build % BRANCHES}`
  return deliveryBody({ project: 1 + (build % PROJECTS), build, branch }, n % 2 === 0 ? 'initiated' : end)
}

/** What a build step reports of the n-th build of that stream, with as many failed tests as make it so large. */
export function reportBody(n: number, firstBuild: number, bytes: number): string {
  const build = firstBuild + n
  const failure = (i: number) => ({
    name: `Suite ${i} › does what it says`,
    message: `expected ${i}, got ${'x'.repeat(120)}`,
  })
  const failures = Array.from({ length: Math.floor(bytes / JSON.stringify(failure(100)).length) }, (_, i) => failure(i))
  return JSON.stringify({
    build: { project_id: 1 + (build % PROJECTS), build_id: build },
    report: { tests: 1_000, failed: failures.length, failures },
  })
}
