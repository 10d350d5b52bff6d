import { CHANNELS, PEOPLE } from '../../sandbox-slack/src/workspace.ts'
import type { Story } from './service/service.ts'
import { approve, ask, awaitCard, press, push, type Stage } from './stage.ts'

/** One act of the demonstration: what happens, and what there is to see. */
export interface Act {
  title: string
  play(stage: Stage): Promise<void>
}

/** Who acts, so that the end can be held against it; and whose committer name it is that breaks a build. */
export const CALLED = PEOPLE.ada
export const RESTARTER = PEOPLE.lin
export const STOPPER = PEOPLE.grace
export const REQUESTER = PEOPLE.ada

/** What the requester types after `/ci`, whatever the service. */
export const QUESTIONS = { list: 'list', status: 'status acme/web' } as const

/** Who gives a channel rules of its own, where, and what they type after `/ci`. */
export const FOLLOWER = PEOPLE.lin
export const FOLLOWING = { channel: CHANNELS.ops, text: 'subscribe acme/web failed,recovered release/*' } as const

/** How long a build of the demonstration runs. */
const BUILD_MS = 3_500

/**
 * Failed → Restart → Passed on attempt 2; Stop; an approval; a machine's failure; questions; a channel's own rules; a limit, where
 * the service has one; a burst; a red card is left.
 */
export const actsOf = (story: Story): readonly Act[] => [
  {
    title: 'A push to acme/web fails; Ada, who has typed /ci me Ada, is called; Lin presses Restart, and it passes',
    async play(stage) {
      await ask(stage, { by: CALLED, text: 'me Ada' })
      const commit = { branch: 'main', message: 'Fix login for accounts without e-mail', committer: 'Ada' }
      const build = push(stage.ci, story.projects.web, { ...commit, outcome: 'error', ms: BUILD_MS })
      await stage.clock.sleep(BUILD_MS + stage.lookMs)
      await press(stage, { by: RESTARTER, label: 'Restart', build })
      await stage.clock.sleep(BUILD_MS + stage.lookMs)
    },
  },
  {
    title: 'A build of acme/web runs and runs; Grace presses Stop, and the card says so',
    async play(stage) {
      const commit = { branch: 'load-test', message: 'Try it with a million visitors', committer: 'Lin' }
      const build = push(stage.ci, story.projects.web, { ...commit, outcome: 'none' })
      await stage.clock.sleep(stage.lookMs)
      await press(stage, { by: STOPPER, label: 'Stop', build })
      await stage.clock.sleep(stage.lookMs)
    },
  },
  {
    title: story.approval,
    async play(stage) {
      const commit = { branch: 'release/1.2', message: 'Release 1.2', committer: 'Grace', commitId: undefined }
      const build = push(stage.ci, story.projects.api, {
        ...commit,
        needsApproval: true,
        outcome: 'success',
        ms: BUILD_MS,
      })
      await approve(stage, build)
      await stage.clock.sleep(BUILD_MS + stage.lookMs)
    },
  },
  {
    title: story.machine,
    async play({ ci, clock, lookMs }) {
      const commit = { branch: 'main', message: 'Nudge the logo <two> pixels & *more*', committer: 'Grace' }
      push(ci, story.projects.ios, { ...commit, outcome: 'infrastructure_failure', ms: BUILD_MS })
      await clock.sleep(BUILD_MS + lookMs)
    },
  },
  {
    title: `Ada asks: ${asked(story)
      .map((text) => `/ci ${text}`)
      .join(', ')}`,
    async play(stage) {
      for (const text of asked(story)) await ask(stage, { by: REQUESTER, text })
      await stage.clock.sleep(stage.lookMs)
    },
  },
  {
    title: `Lin types /ci ${FOLLOWING.text} in #ops; a release breaks, is told there too, and /ci why says why`,
    async play(stage) {
      await ask(stage, { by: FOLLOWER, ...FOLLOWING })
      const commit = { branch: 'release/1.2', message: 'Release 1.2', committer: 'Grace' }
      const build = push(stage.ci, story.projects.web, { ...commit, outcome: 'error', ms: BUILD_MS })
      await stage.clock.sleep(BUILD_MS)
      await awaitCard(stage, FOLLOWING.channel, build)
      await ask(stage, { by: FOLLOWER, channel: FOLLOWING.channel, text: story.why(build.id) })
      await stage.clock.sleep(stage.lookMs)
    },
  },
  ...(story.limit === null ? [] : [overLimit(story, story.limit)]),
  {
    title: 'A burst of builds: failures are told first, each card once, at the pace that Slack allows',
    async play({ ci, clock, lookMs }) {
      ci.storm(story.projects.api, { builds: 12, failEvery: 4, ms: BUILD_MS })
      await clock.sleep(BUILD_MS + lookMs)
    },
  },
  {
    title: 'A push to acme/api fails, and its red card is left to whoever looks',
    async play({ ci, clock, lookMs }) {
      const commit = { branch: 'main', message: 'Round prices to the cent', committer: 'Lin' }
      push(ci, story.projects.api, { ...commit, outcome: 'error', ms: BUILD_MS })
      await clock.sleep(BUILD_MS + lookMs)
    },
  },
]

const asked = ({ question }: Story): string[] => [...Object.values(QUESTIONS), ...(question ? [question.text] : [])]

const overLimit = ({ projects }: Story, title: string): Act => ({
  title,
  async play({ ci, clock, lookMs }) {
    for (const branch of ['spring', 'summer', 'autumn'])
      push(ci, projects.web, { branch, message: `Try ${branch} colours`, committer: 'Lin', outcome: 'ignored' })
    await clock.sleep(lookMs)
  },
})
