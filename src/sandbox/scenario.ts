import type { Clock } from '../lib/clock.ts'
import type { BuildSnapshot } from './ci/snapshot.ts'
import type { SandboxCi } from './ci/server.ts'

/** One act of the demonstration: what happens, and what there is to see. */
export interface Act {
  title: string
  play(stage: Stage): Promise<void>
}

export interface Stage {
  ci: SandboxCi
  clock: Clock
}

/** How long a build of the demonstration runs, and how long one looks at its end before the next thing happens. */
const BUILD_MS = 3_500
const LOOK_MS = 2_500

/** Running → failed → restarted → Fixed; a waiting build; a machine's failure; an account at its limit; a burst. */
export const ACTS: readonly Act[] = [
  {
    title: 'A push to acme/web fails; Ada is called in the thread; a restart makes it green: "Fixed"',
    async play({ ci, clock }) {
      const commit = { branch: 'main', message: 'Fix login for accounts without e-mail', committer: 'Ada' }
      const build = pushed(ci, 'acme/web', { ...commit, outcome: 'error', ms: BUILD_MS })
      await clock.sleep(BUILD_MS + LOOK_MS)
      ci.restart(build.id, 'success')
      await clock.sleep(BUILD_MS + LOOK_MS)
    },
  },
  {
    title: 'A release of acme/api waits for its approval, gets it, and passes',
    async play({ ci, clock }) {
      const commit = { branch: 'release/1.2', message: 'Release 1.2', committer: 'Grace', commitId: undefined }
      const build = pushed(ci, 'acme/api', { ...commit, needsApproval: true, outcome: 'success', ms: BUILD_MS })
      await clock.sleep(LOOK_MS)
      ci.approve(build.id)
      await clock.sleep(BUILD_MS + LOOK_MS)
    },
  },
  {
    title: "A build machine of acme/ios breaks: nobody's fault, nobody is called",
    async play({ ci, clock }) {
      const commit = { branch: 'main', message: 'Nudge the logo <two> pixels & *more*', committer: 'Grace' }
      pushed(ci, 'acme/ios', { ...commit, outcome: 'infrastructure_failure', ms: BUILD_MS })
      await clock.sleep(BUILD_MS + LOOK_MS)
    },
  },
  {
    title: 'The account is over its monthly limit: one notice that counts, not one message a build',
    async play({ ci, clock }) {
      for (const branch of ['spring', 'summer', 'autumn'])
        pushed(ci, 'acme/web', { branch, message: `Try ${branch} colours`, committer: 'Lin', outcome: 'ignored' })
      await clock.sleep(LOOK_MS)
    },
  },
  {
    title: 'A burst of builds: failures are told first, each card once, at the pace that Slack allows',
    async play({ ci, clock }) {
      ci.storm('acme/api', { builds: 12, failEvery: 4, ms: BUILD_MS })
      await clock.sleep(BUILD_MS + LOOK_MS)
    },
  },
]

function pushed(ci: SandboxCi, project: string, push: Parameters<SandboxCi['push']>[1]): BuildSnapshot {
  const outcome = ci.push(project, push)
  if (outcome.kind !== 'build') throw new Error(`the sandbox did not build ${project}: ${outcome.kind}`)
  return outcome.build
}
