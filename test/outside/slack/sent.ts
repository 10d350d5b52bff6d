import { listOf } from '../../../packages/sandbox-slack/src/json.ts'
import { CHANNELS, PEOPLE } from '../../../packages/sandbox-slack/src/workspace.ts'
import { startHttpStub, type StubRequest } from '../../support/http-stub.ts'
import { until } from '../../support/app.ts'
import { openAnswering, openView, thread, type Answering } from './answers.ts'

const { builds: BUILDS, secret: SECRET, web: WEB } = CHANNELS
const { ada, lin } = PEOPLE

const interactive = (name: string): string => `app-backend.interactive-components.${name}Payload`

/** @param connect connects the bot whose requests are looked at */
type Send = (stage: Answering, connect: () => void) => Promise<unknown>

const told =
  (...acts: ((stage: Answering['slack']) => void)[]): Send =>
  async ({ slack }) => {
    for (const act of acts) act(slack)
    await until('the bot has heard of it', () => slack.sender.acknowledgements.length >= acts.length)
  }

/** What people do, by the sample of the request that the bot gets. */
export const SENT: Readonly<Record<string, Send>> = {
  'app-backend.slash-commands.SlashCommandPayload': ({ slack }) =>
    slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'help' }),
  [interactive('BlockAction')]: async (stage, connect) => {
    const { slack } = stage
    const channel = BUILDS
    const ts = await thread(stage)
    await slack.people.click({ user: ada, channel, ts, actionId: 'stop' })
    await openView(stage)
    connect()
    await slack.people.clickInView({ user: ada, actionId: 'look' })
  },
  [interactive('MessageShortcut')]: async (stage) => {
    const ts = await thread(stage)
    await stage.slack.people.useShortcut({ user: ada, channel: BUILDS, ts, callbackId: 'restart_build' })
  },
  'app-backend.views.ViewSubmissionPayload': async (stage, connect) => {
    await openView(stage)
    connect()
    await stage.slack.people.submitView({ user: ada })
  },
  'app-backend.views.ViewClosedPayload': async (stage, connect) => {
    await openView(stage)
    connect()
    await stage.slack.people.closeView({ user: ada })
  },
  'event.AppMentionPayload': async ({ slack }) => {
    await slack.people.mentionBot({ user: ada, channel: BUILDS, text: 'status' })
    const [root] = listOf(slack.messages(BUILDS))
    const place = { channel: BUILDS, threadTs: String(root?.['ts']) }
    await slack.people.mentionBot({ user: ada, ...place, text: 'status' })
    await slack.people.mentionByBot({ ...place, text: 'status' })
    await slack.people.mentionByBot({ ...place, text: 'status', by: 'workflow' })
    await slack.people.editMention({ channel: BUILDS, ts: place.threadTs, text: 'stop' })
  },
  'event.AppHomeOpenedPayload': async ({ slack, call }) => {
    await call('views.publish', { user_id: ada, view: { type: 'home', blocks: [{ type: 'divider' }] } })
    await slack.people.openHome(ada)
  },
  'event.ChannelArchivePayload': told(({ acts }) => acts.archive(WEB)),
  'event.ChannelUnarchivePayload': told(({ acts }) => acts.unarchive(CHANNELS.archived)),
  'event.ChannelLeftPayload': told(({ acts }) => acts.kickBot(WEB)),
  'event.ChannelRenamePayload': told(({ acts }) => acts.rename(WEB, 'w')),
  'event.ChannelIdChangedPayload': told(({ acts }) => acts.changeId(SECRET)),
  'event.GroupArchivePayload': told(({ acts }) => acts.archive(SECRET)),
  'event.GroupUnarchivePayload': told(
    ({ acts }) => acts.archive(SECRET),
    ({ acts }) => acts.unarchive(SECRET),
  ),
  'event.GroupLeftPayload': told(({ acts }) => acts.kickBot(SECRET)),
  'event.GroupRenamePayload': told(({ acts }) => acts.rename(SECRET, 's')),
  'event.MemberJoinedChannelPayload': told(({ acts }) => acts.inviteBot(CHANNELS.elsewhere)),
  'event.UserChangePayload': told(({ acts }) => {
    acts.deactivate(lin)
    acts.reactivate(lin)
  }),
}

/** The bodies of the requests that belong to a sample. */
export async function sentAs(sample: string): Promise<unknown[]> {
  await using bot = await startHttpStub(() => ({}))
  const stage = await openAnswering()
  const connect = () => stage.slack.connectBot(bot.url)
  connect()
  await SENT[sample]?.(stage, connect)
  await stage.slack.stop()
  return bot.requests.map(bodyOf).filter((body) => nameOf(body) === sample)
}

function bodyOf({ body, headers }: StubRequest): Record<string, unknown> {
  if (headers['content-type'] === 'application/json') return JSON.parse(body) as Record<string, unknown>
  const fields = Object.fromEntries(new URLSearchParams(body))
  return fields['payload'] === undefined ? fields : (JSON.parse(fields['payload']) as Record<string, unknown>)
}

const NAMES: Readonly<Record<string, string>> = {
  block_actions: interactive('BlockAction'),
  message_action: interactive('MessageShortcut'),
  view_submission: 'app-backend.views.ViewSubmissionPayload',
  view_closed: 'app-backend.views.ViewClosedPayload',
}

/** The sample of a request: `channel_archive` is in `event.ChannelArchivePayload`. */
function nameOf(body: Record<string, unknown>): string | undefined {
  if ('command' in body) return 'app-backend.slash-commands.SlashCommandPayload'
  const { type, event } = body
  if (type !== 'event_callback') return NAMES[String(type)]
  const words = (event as { type: string }).type.split('_')
  return `event.${words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')}Payload`
}
