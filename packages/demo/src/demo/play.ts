import { actsOf, PRICES_BROKEN, REQUESTER, FOLLOWER, FOLLOWING, OWNERS, RED } from '../scenario.ts'
import type { Clock } from '../../../../src/lib/clock.ts'
import { forTerminal } from '../../../../src/lib/escape.ts'
import type { Scene } from '../../../sandbox-slack/src/panel-state.ts'
import type { SandboxSlack } from '../../../sandbox-slack/src/sandbox-slack.ts'
import { drawnText } from '../../../sandbox-slack/src/transcript.ts'
import { CHANNELS, PEOPLE } from '../../../sandbox-slack/src/workspace.ts'
import type { Service } from '../service/service.ts'
import { messagesIn, ownerOn } from '../stage.ts'
import { agrees, both, compare, type Agreement } from './agreement.ts'
import { compareDeeds, type Seen } from './deeds.ts'
import { compareFollowers, FOLLOWERS } from './followers.ts'
import { transcriptOf } from './transcript.ts'
import { yourTurnIn } from './words.ts'

/** How long Slack may take to agree after the last act: most of the burst goes out at one message a second. */
const AGREE_MAX_MS = 90_000
const LOOK_AGAIN_MS = 250

/** The pause between two actions, so that people can follow; with `--once`, only as long as things need to settle. */
const LOOK_MS = 2_500
const LOOK_ONCE_MS = 500

export interface Play {
  ci: Service
  slack: SandboxSlack
  clock: Clock
  /** `--once`: everything is printed, and also compared with what was asked for */
  isOnce: boolean
  /** called when an act begins, and with null when all are over */
  tell: (scene: Scene | null) => void
}

/** Plays all acts, waits until Slack agrees with CI, prints the result, and returns the exit code. */
export async function play(parts: Play): Promise<number> {
  const { ci, slack, clock, isOnce, tell } = parts
  const acts = actsOf(ci.story)
  const owners = watchOwners(slack)
  for (const [index, act] of acts.entries()) {
    console.log(`  ${index + 1}. ${act.title}`)
    tell({ n: index + 1, of: acts.length, title: act.title })
    await act.play({ ci, slack, clock, lookMs: isOnce ? LOOK_ONCE_MS : LOOK_MS })
  }
  tell(null)
  await ci.settle()
  const agreement = await untilAgreed(parts, owners)
  const shown = [CHANNELS.builds, ...FOLLOWERS.map(({ channel }) => channel)]
  if (isOnce) for (const id of shown) console.log(forTerminal(`\n${transcriptOf(slack, id)}`))
  const { lost, doubled, wrong } = agreement
  for (const sentence of [...lost, ...doubled, ...wrong]) console.log(forTerminal(`  ! ${sentence}`))
  const found = agrees(agreement) ? 'Slack shows what CI did' : 'Slack differs from CI'
  console.log(`\n${found}: lost ${lost.length} · doubled ${doubled.length} · wrong ${wrong.length}`)
  if (!isOnce) yourTurn(parts)
  return agrees(agreement) ? 0 : 1
}

type Owners = Seen['owners']

/** Writes down whom the card of the red branch names: what it said before is gone at the end. */
function watchOwners({ workspace }: SandboxSlack): Owners {
  const owners: (string | null)[] = []
  workspace.changes.on((change) => {
    if (!('byBot' in change) || change.channel.id !== CHANNELS.builds) return
    const { message } = change
    const owner = drawnText(message).includes(`\`${RED.branch}\``) ? ownerOn(message) : undefined
    if (owner !== undefined && owner !== owners.at(-1)) owners.push(owner)
  })
  return owners
}

/** In the terminal and on the page, since people may see only one of them. */
function yourTurn({ ci, slack: { acts } }: Play): void {
  const text = yourTurnIn(ci.story)
  console.log(`\n${text}\n\nCtrl-C ends it.`)
  acts.say({ user: PEOPLE.grace, channel: CHANNELS.builds, text })
}

async function untilAgreed(parts: Play, owners: Owners): Promise<Agreement> {
  const { clock } = parts
  const until = clock.now() + AGREE_MAX_MS
  for (;;) {
    const agreement = look(parts, owners)
    if (agrees(agreement) || clock.now() > until) return agreement
    await clock.sleep(LOOK_AGAIN_MS)
  }
}

function look({ ci, slack, isOnce }: Play, owners: Owners): Agreement {
  const messages = messagesIn(slack, CHANNELS.builds)
  const { builds } = ci.state()
  const told = compare(builds, messages)
  // People at the page may do anything, so what they do is not compared with the scenario.
  if (!isOnce) return told
  const answersTo = (user: string, channel: string) =>
    slack.ephemerals(channel, user).map(({ message }) => message.text)
  const projects = ci.projects().map(({ name }) => name)
  const direct = `D${OWNERS[2].slice(1)}`
  const { projects: names } = ci.story
  const asked = answersTo(REQUESTER, CHANNELS.builds)
  const deeds = compareDeeds({
    asked: ci.asked(),
    approves: ci.story.approves,
    builds,
    projects,
    report: ci.reportTests && PRICES_BROKEN,
    messages,
    answers: asked,
    owners,
    toldDirectly: slack.workspace.channels.has(direct) ? messagesIn(slack, direct).map(({ text }) => text) : [],
  })
  const answers = answersTo(FOLLOWER, FOLLOWING.channel)
  const followed = { builds, web: names.web, answers, messagesIn: (id: string) => messagesIn(slack, id) }
  return both(both(told, deeds), compareFollowers(followed))
}
