import type { BuildSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import { FOLLOWING } from '../scenario.ts'
import type { Message } from '../../../sandbox-slack/src/messages.ts'
import { CHANNELS } from '../../../sandbox-slack/src/workspace.ts'
import { cardsOf } from '../stage.ts'
import { both, compare, type Agreement } from './agreement.ts'

/** A channel that follows a part only, and what that part is: said once more, without the bot's own rules. */
interface Follower {
  channel: string
  /** as people call it */
  name: string
  isItsBranch: (branch: string) => boolean
}

/** #web by the file of subscriptions, #ops by what is typed there: both hear of acme/web's failures and recoveries alone. */
export const FOLLOWERS: readonly Follower[] = [
  { channel: CHANNELS.web, name: '#web', isItsBranch: (branch) => branch === 'main' },
  {
    channel: FOLLOWING.channel,
    name: '#ops',
    isItsBranch: (branch) => branch.startsWith('release/'),
  },
]

/** What these channels show, and what the one who made #ops follow was answered there, as text. */
export interface Followed {
  builds: readonly BuildSnapshot[]
  /** what its service calls acme/web */
  web: string
  messagesIn: (channel: string) => readonly Message[]
  answers: readonly string[]
}

/**
 * Compares the builds of CI with what each of these channels shows: the builds that its rules select, and no others. The
 * person who typed the rules must have got an answer, and the reason when they asked why.
 */
export function compareFollowers(followed: Followed): Agreement {
  const compared = FOLLOWERS.map((follower) => compareFollower(follower, followed))
  const agreement = compared.reduce(both, { lost: [], doubled: [], wrong: [] })
  for (const [command, words] of Object.entries(answersOwed(followed.web))) {
    if (!followed.answers.some((answer) => words.every((word) => answer.includes(word))))
      agreement.lost.push(`no answer to /ci ${command} in #ops has ${words.join(', ')}`)
  }
  return agreement
}

const answersOwed = (web: string) => ({
  // The words of a first subscription and of a repeated one. At GitHub it is to all workflows of the repository.
  subscribe: ['ubscribed* to *acme/web'],
  why: [`*Failed* ${web}`, '*posted*', '`release/*`', 'A rule selects it'],
})

function compareFollower({ channel, name, isItsBranch }: Follower, { builds, web, messagesIn }: Followed): Agreement {
  const messages = messagesIn(channel)
  const own = builds.filter((build) => build.project === web && isItsBranch(build.branch) && hasFailed(build))
  const agreement = compare(own, messages)
  if (own.length === 0) agreement.lost.push(`CI ran no build that is for ${name}`)
  for (const build of builds.filter((one) => !own.includes(one))) {
    if (cardsOf(messages, build).length > 0)
      agreement.wrong.push(`${name} tells ${build.project} #${build.id}, which its rules leave out`)
  }
  return agreement
}

// In the scenario nothing recovers here that has not failed in the same build.
const hasFailed = ({ runs }: BuildSnapshot): boolean => runs.some(({ status }) => status === 'error')
