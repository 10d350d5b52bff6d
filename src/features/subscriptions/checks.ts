import { setImmediate as nextTurn } from 'node:timers/promises'
import { namesOf } from '../../projects/followers.ts'
import { BRANCHES_MAX } from '../../projects/followers.ts'
import { followedKeys } from '../../projects/projects.ts'
import type { ChannelId } from '../../domain/ids.ts'
import { coversAny, following, type Subscription } from '../../domain/rules/subscription.ts'
import { counted } from '../../slack/messages/build.ts'
import { nobodyFollows } from '../../slack/messages/words.ts'
import {
  bounded,
  fine,
  FINDINGS_MAX,
  notChecked,
  off,
  SLACK_NOT_ASKED,
  STORE_NOT_READ,
  unsure,
  wrong,
  type Check,
  type DoctorDeps,
  type Examination,
  type Finding,
  refusedBySlack,
} from '../kit/check.ts'

/** Slack allows about fifty such calls a minute. Further channels are not checked. */
export const CHANNELS_MAX = 40
const AT_ONCE = 4

/**
 * Checks whether there are subscriptions, whether Buildline can post in their channels, and whether their branches
 * match builds.
 */
export const channels: Check = {
  atStart: true,
  name: 'channels',
  title: 'Channels',
  calls: 'Slack',
  async run(examination) {
    const { store, say } = examination
    const subscriptions = await examination.subscriptions().catch(() => null)
    if (subscriptions === null) return [STORE_NOT_READ]
    const all = [...new Set(subscriptions.map(({ channel }) => channel))]
    if (all.length === 0)
      return [store ? { verdict: 'wrong', ...nobodyFollows(say.code) } : off('no channel has a subscription yet')]
    const asked = all.slice(0, CHANNELS_MAX)
    const found = [
      ...(await unusableIn(asked, examination)),
      ...(await unmatched(subscriptions, examination).catch(() => [STORE_NOT_READ])),
      ...(await outdated(examination)),
    ]
    return [
      ...(found.length > 0 ? found : [fine(`${counted(asked.length, 'channel')} can get builds.`)]),
      ...(all.length > asked.length ? [notChecked('there are too many channels to check at once')] : []),
    ]
  },
}

async function unusableIn(all: readonly ChannelId[], examination: Examination): Promise<Finding[]> {
  const found: Finding[] = []
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const some = await Promise.all(all.slice(at, at + AT_ONCE).map((channel) => faultOf(channel, examination)))
    const faults = some.filter((one) => one !== null)
    // Such an error concerns every channel: the token, a scope, or Slack itself.
    const general = faults.find(({ closed }) => !closed)
    if (general) return [general]
    found.push(...faults)
  }
  return found
}

/** Null if nothing is wrong with the channel. */
async function faultOf(channel: ChannelId, examination: Examination): Promise<Finding | null> {
  const can = await examination.slack.channel(channel)
  switch (can.kind) {
    case 'open':
      return null
    case 'closed':
      return { ...unusable(channel, can.code, examination), closed: { channel, code: can.code } }
    case 'refuses':
      // What Slack refuses in general, the check of the token says.
      return (await examination.identity()).kind === 'known' ? refusedBySlack(can, examination) : SLACK_NOT_ASKED
    case 'away':
      return SLACK_NOT_ASKED
  }
}

function unusable(channel: ChannelId, code: string, { say, config }: Examination): Finding {
  const isDefault = config.subscriptions.some((one) => one.source === 'default-channel' && one.channel === channel)
  const where = say.channel(channel)
  if (code === 'is_archived') return wrong(`${where} is archived.`, 'Unarchive it, or remove its subscriptions.')
  if (code === 'is_moved')
    return wrong(
      `${where} was moved to another channel.`,
      `Type ${say.code('/ci subscribe')} in the new channel, and remove its subscriptions.`,
    )
  if (code.startsWith('restricted_action'))
    return wrong(
      `Only some people may post in ${where} (${say.outside(code)}).`,
      "Let Buildline post there, in the channel's settings in Slack, or remove its subscriptions.",
    )
  const invite = `Type ${say.code('/invite @Buildline')} there`
  if (code === 'not_in_channel') return wrong(`Buildline is not in ${where}.`, `${invite}.`)
  if (code === 'channel_not_found')
    return wrong(
      `${say.lostChannel(channel)} is gone, or private and Buildline is not in it.`,
      `${invite}, or ${isDefault ? `correct ${say.code('DEFAULT_CHANNEL')}` : 'remove its subscriptions'}.`,
    )
  return wrong(
    `Slack refuses messages to ${where} (${say.outside(code)}).`,
    'Ask a workspace admin to let Buildline post there.',
  )
}

/** A subscription that matched no build for this long, while its project had some, is reported. */
const UNMATCHED_MS = 30 * 24 * 60 * 60_000

/** The most projects that one subscription is checked with: a repository may have many workflows. */
const PROJECTS_MAX = 20

/** Subscriptions whose branches no build of their project has had for long. */
async function unmatched(
  subscriptions: readonly Subscription[],
  { store, clock, say }: Examination,
): Promise<Finding[]> {
  const found: Finding[] = []
  const since = clock.now() - UNMATCHED_MS
  if (!store) return []
  for (const one of subscriptions) {
    const { follows, rules, channel, source, createdAt = 0 } = one
    // A newer one was already questioned when it was made.
    if (createdAt > since || coversAny(rules, []) || follows.what !== 'project') continue
    if (await matchesNothing(store, one, since)) {
      const named = rules!.flatMap(({ branch }) => branch ?? []).slice(0, FINDINGS_MAX)
      found.push(
        unsure(
          `${say.channel(channel)} follows ${say.outside(follows.name)} on ${named.map(say.outside).join(', ')}, and no build of the last 30 days matched.`,
          source === 'file'
            ? 'Correct the branch in the subscriptions file.'
            : `Type ${say.code('/ci rules')} there, and correct the branch.`,
        ),
      )
    }
    await nextTurn()
  }
  return bounded(found)
}

async function matchesNothing(
  { read }: NonNullable<DoctorDeps['store']>,
  one: Subscription,
  since: number,
): Promise<boolean> {
  const named = await read.deliveredAs(followedKeys(one), PROJECTS_MAX)
  let hasBuilt = false
  for (const project of named.filter((each) => following([one], namesOf(each)).length > 0)) {
    const { projectId } = project
    const isRecent = async (branch?: string) => ((await read.newestBuild(projectId, branch))?.at ?? 0) >= since
    if (!(await isRecent())) continue
    hasBuilt = true
    // They come newest build first.
    const matched = (await read.branchesOf(projectId, BRANCHES_MAX)).find((branch) => coversAny(one.rules, [branch]))
    if (matched !== undefined && (await isRecent(matched))) return false
  }
  return hasBuilt
}

/** Settings that still name a channel by a former id. They work only while this database is used. */
async function outdated({ config, store, say }: Examination): Promise<Finding[]> {
  const moved = await store?.read.movedChannels().catch(() => null)
  return [...new Map(config.subscriptions.map((one) => [`${one.source} ${one.channel}`, one])).values()].flatMap(
    ({ source, channel: former }) => {
      const channel = moved?.get(former)
      if (channel === undefined) return []
      const setting = source === 'default-channel' ? 'DEFAULT_CHANNEL' : 'SUBSCRIPTIONS_FILE'
      return [
        wrong(
          `${say.code(setting)} names ${say.channel(channel)} by an id that it no longer has (${say.code(former)}).`,
          `Write ${say.code(channel)} there. Until then, Buildline still posts in it.`,
        ),
      ]
    },
  )
}

export const CHECKS: readonly Check[] = [channels]
