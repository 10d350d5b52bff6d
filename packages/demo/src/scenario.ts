import { DOUBLE_CLICK_MS } from '../../../src/features/kit/pending-interactions.ts'
import { CHANNELS, PEOPLE } from '../../sandbox-slack/src/workspace.ts'
import type { Report, Story } from './service/service.ts'
import {
  approve,
  ask,
  awaitCard,
  awaitOwner,
  CHANGE,
  ON_IT,
  openForm,
  press,
  pressInAnswer,
  push,
  sendForm,
  type Stage,
} from './stage.ts'

/** One act of the demonstration: what happens, and what there is to see. */
export interface Act {
  title: string
  play(stage: Stage): Promise<void>
}

/** Who acts, so that the end can be held against it; and whose committer name it is that breaks a build. */
export const CALLED = PEOPLE.ada
export const RESTARTER = PEOPLE.lin
export const STOPPER = PEOPLE.grace
export const APPROVER = PEOPLE.grace
export const REQUESTER = PEOPLE.ada

/** What the requester types after `/ci`, whatever the service. */
export const QUESTIONS = { list: 'list', status: 'status acme/web', digest: 'digest now' } as const

/** Who subscribes a channel, which one, and what they type after `/ci`. */
export const FOLLOWER = PEOPLE.lin
export const FOLLOWING = { channel: CHANNELS.ops, text: 'subscribe acme/web failed,recovered release/*' } as const

/** Who looks after a red branch, one after the other: until their time is up, until they hand it over, and too late. */
export const OWNERS = [PEOPLE.ada, PEOPLE.grace, PEOPLE.lin] as const

/** While the bot was down, the service may have switched off its webhook: the bot then polls, at the latest after a minute. */
const POLLED_MAX_MS = 70_000

/** How long a build of the demonstration runs. */
const BUILD_MS = 3_500

/** The commits on the red branch. */
export const RED = { branch: 'checkout', committer: 'Ada', ms: BUILD_MS / 4 } as const

const MINUTE_MS = 60_000

/** A promise that is shorter than this may be over before its card names anybody. */
const SEEN_MS_MIN = 5_000

/** What the build steps say of the tests. */
const LOGIN_BROKEN: Report = {
  tests: 412,
  failed: 3,
  failures: [
    { name: 'LoginTest › redirects', message: 'expected 302, got 200' },
    {
      name: 'LoginTest › takes an account without e-mail',
      message: "Cannot read properties of null (reading 'split')",
    },
    { name: 'CartTest › sums', message: 'expected 19.99, got 20' },
  ],
}
const ALL_WELL: Report = { tests: 94, failed: 0, failures: [] }
export const PRICES_BROKEN: Report = {
  tests: 96,
  failed: 2,
  failures: [
    { name: 'Prices › rounds half a cent up', message: 'expected 0.13, got 0.12' },
    { name: 'Invoice › adds up', message: 'expected 100.00, got 99.99' },
  ],
  log: ['$ npm test', 'FAIL  test/prices.test.ts', 'FAIL  test/invoice.test.ts', 'Tests  2 failed | 94 passed (96)'],
}

/**
 * A red branch that somebody looks after; Failed → Restart → Passed on attempt 2; Stop; an approval; a machine's failure;
 * questions; a channel's own rules; a limit, where the service has one; a burst; a red card is left; the red branch again,
 * on which somebody's time is up by now. It comes last, so that the burst fills the wait.
 */
export const actsOf = (story: Story): readonly Act[] => [
  {
    title: 'A branch of acme/api goes red; Ada types /ci on it 1m, and the card says that she looks after it',
    async play(stage) {
      const build = push(stage.ci, story.projects.api, { ...RED, message: 'Take cards only', outcome: 'error' })
      await awaitCard(stage, CHANNELS.builds, build, { says: 'Failed' })
      // Her time is up when the clock's next minute begins.
      const leftMs = MINUTE_MS - (stage.clock.now() % MINUTE_MS)
      if (leftMs < SEEN_MS_MIN) await stage.clock.sleep(leftMs)
      await ask(stage, { by: OWNERS[0], text: `on it 1m "${story.projects.api}"@${RED.branch}` })
      await awaitOwner(stage, build, OWNERS[0])
      await stage.clock.sleep(stage.lookMs)
    },
  },
  {
    title: 'A push to acme/web fails; Ada, who has typed /ci me Ada, is mentioned; Lin presses Restart, and it passes',
    async play(stage) {
      await ask(stage, { by: CALLED, text: 'me Ada' })
      const commit = { branch: 'main', message: 'Fix login for accounts without e-mail', committer: 'Ada' }
      const build = push(stage.ci, story.projects.web, { ...commit, outcome: 'error', ms: BUILD_MS })
      await stage.ci.reportTests?.(build, LOGIN_BROKEN)
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
      if (story.approves === null) await approve(stage, build)
      else {
        await awaitCard(stage, CHANNELS.builds, build, { says: 'Waiting', patienceMs: POLLED_MAX_MS })
        await openForm(stage, { by: APPROVER, label: story.approves, build })
        await sendForm(stage, { by: APPROVER, filled: {} })
      }
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
    title: `Ada asks: ${ASKED.map((text) => `/ci ${text}`).join(', ')}`,
    async play(stage) {
      for (const text of ASKED) await ask(stage, { by: REQUESTER, text })
      await stage.clock.sleep(stage.lookMs)
    },
  },
  {
    title: `Lin types /ci ${FOLLOWING.text} in #ops; a release breaks, is told there too, and /ci why says why`,
    async play(stage) {
      await ask(stage, { by: FOLLOWER, ...FOLLOWING })
      // Nothing was released yet: the bot asks whether the pattern is meant.
      await pressInAnswer(stage, { by: FOLLOWER, label: 'Keep release/*', channel: FOLLOWING.channel })
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
    title: 'A push to acme/api passes, the next one fails, and its red card is left for you',
    async play({ ci, clock, lookMs }) {
      const main = { branch: 'main', committer: 'Lin' }
      const before = push(ci, story.projects.api, {
        ...main,
        message: 'Count carts',
        outcome: 'success',
        ms: BUILD_MS / 4,
      })
      await ci.reportTests?.(before, ALL_WELL)
      const commit = { ...main, message: 'Round prices to the cent' }
      const build = push(ci, story.projects.api, { ...commit, outcome: 'error', ms: BUILD_MS })
      await ci.reportTests?.(build, PRICES_BROKEN)
      await clock.sleep(BUILD_MS + lookMs)
    },
  },
  {
    title:
      "Ada's time is up; Grace takes the branch and hands it over to Lin, but the next commit has already fixed it",
    async play(stage) {
      const [, owner, heir] = OWNERS
      const build = stage.ci.state().builds.find(({ branch }) => branch === RED.branch)!
      await awaitOwner(stage, build, null, MINUTE_MS)
      await openForm(stage, { by: owner, label: ON_IT, build })
      await sendForm(stage, { by: owner, filled: { [WISH]: "I'm on it for 1 hour" } })
      await awaitOwner(stage, build, owner)
      // Sooner, it would be a double click.
      await stage.clock.sleep(Math.max(stage.lookMs, DOUBLE_CLICK_MS))
      await openForm(stage, { by: owner, label: CHANGE, build })
      await sendForm(stage, { by: owner, filled: { [WISH]: 'Hand it over', 'To whom': heir } })
      await awaitOwner(stage, build, heir)
      await openForm(stage, { by: heir, label: CHANGE, build })
      const fix = push(stage.ci, story.projects.api, { ...RED, message: 'Take cash again', outcome: 'success' })
      await awaitCard(stage, CHANNELS.builds, fix, { says: 'Fixed', patienceMs: POLLED_MAX_MS })
      await sendForm(stage, { by: heir, filled: { [WISH]: 'Let it go' } })
      await stage.clock.sleep(stage.lookMs)
    },
  },
]

const ASKED = [QUESTIONS.list, QUESTIONS.status, QUESTIONS.digest]

const WISH = 'What do you want to do?'

const overLimit = ({ projects }: Story, title: string): Act => ({
  title,
  async play({ ci, clock, lookMs }) {
    for (const branch of ['spring', 'summer', 'autumn'])
      push(ci, projects.web, { branch, message: `Try ${branch} colours`, committer: 'Lin', outcome: 'ignored' })
    await clock.sleep(lookMs)
  },
})
