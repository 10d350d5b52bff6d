import { expect, test } from 'vitest'
import type { ChannelId } from '../../../src/domain/ids.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createSlackNotifier } from '../../../src/alerts/send/slack-notifier.ts'
import { createHomes } from '../../../src/features/home/slack.ts'
import { openingReplyTarget, showIn, waitingView } from '../../../src/features/kit/modal.ts'
import { createAddresses } from '../../../src/slack/api/addresses.ts'
import { createClient } from '../../../src/slack/api/client.ts'
import { createDirectory, createMemberships } from '../../../src/slack/api/directory.ts'
import { createSlackExaminer } from '../../../src/slack/api/examiner.ts'
import { createSendText } from '../../../src/slack/api/send-text.ts'
import { showPicture } from '../../../src/slack/picture/show.ts'
import { ephemeralReplyTarget } from '../../../src/slack/reply-targets.ts'
import { recordingLog } from '../../features/kit/stage.ts'
import { EMPTY_HOME } from '../../features/home/home-states.ts'
import { card, messageTs } from '../../slack/messages/cast.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import { describeOutside } from '../../support/outside.ts'
import { ANSWERS } from './answers.ts'
import { sampleIn } from './samples.ts'

const CHANNEL = 'C00000000' as ChannelId
const USER = 'U00000000'
const TS = messageTs('0000000000.000000')
const answer = { text: 'passing', blocks: [], picture: null }

/** The bot's own functions, by the method that they call; each with what it makes of the sample. */
const READERS: Readonly<Record<string, readonly [read: (slack: Slack) => unknown, says: unknown]>> = {
  'apps.connections.open': [({ examiner }) => examiner.socket?.(), { kind: 'open' }],
  'auth.test': [
    async ({ examiner, notifier }) => [await examiner.identity(), await notifier.ping()],
    // The sample has no names.
    [{ kind: 'known', scopes: null, aheadMs: expect.any(Number), bot: null, team: null }, { kind: 'sent' }],
  ],
  'chat.delete': [({ notifier }) => notifier.remove({ channel: CHANNEL, ts: TS }), { kind: 'sent', ts: TS }],
  'chat.postEphemeral': [
    ({ client }) => ephemeralReplyTarget(client, USER, { channel: CHANNEL, threadTs: TS }).show(answer, true),
    undefined,
  ],
  'chat.postMessage': [
    async ({ notifier, sendText }) => [await notifier.post({ ...post(), thread: TS }), await sendText(USER, 'a')],
    [
      { kind: 'sent', ts: TS },
      { kind: 'sent', ts: TS },
    ],
  ],
  'chat.update': [({ notifier }) => notifier.edit({ ...post(), ts: TS }), { kind: 'sent', ts: TS }],
  'conversations.history': [({ notifier }) => notifier.find(search(null)), { kind: 'found', copies: [] }],
  'conversations.info': [({ examiner }) => examiner.channel(CHANNEL), { kind: 'closed', code: 'not_in_channel' }],
  'conversations.replies': [({ notifier }) => notifier.find(search(TS)), { kind: 'found', copies: [] }],
  'files.completeUploadExternal': [({ client }) => picture(client), undefined],
  'files.getUploadURLExternal': [({ client }) => picture(client), undefined],
  'usergroups.users.list': [
    ({ directory }) => directory.permits('operate', { user: USER, team: null }),
    { kind: 'no', why: 'not-listed', who: ['S00000000'] },
  ],
  'users.conversations': [({ memberships }) => memberships.channelsOf(USER), new Set([CHANNEL])],
  'users.info': [
    ({ directory }) =>
      Promise.all([
        directory.permits('read', { user: USER, team: 'T00000000' }),
        directory.presenceOf(USER),
        directory.timeZoneOf(USER),
        directory.nameOf(USER),
      ]),
    [{ kind: 'yes' }, { kind: 'here' }, 'UTC', null],
  ],
  'users.lookupByEmail': [
    async ({ addresses }) => {
      await expect.poll(() => addresses.ask('ada@acme.example')).toBe(false)
      return addresses.known('ada@acme.example')
    },
    USER,
  ],
  'views.open': [({ client }) => opened(client), expect.any(Object)],
  'views.publish': [({ drawHome }) => drawHome(USER), undefined],
  'views.update': [({ client }) => showIn(client, 'V1', waitingView('Stop', 'Asking CI …')), true],
}

const post = () => ({ channel: CHANNEL, view: card(), key: 'k-1', postedAttempt: null })
const search = (thread: typeof TS | null) => ({ channel: CHANNEL, thread, key: 'k-1', sinceMs: 0 })

const picture = (client: Slack['client']) =>
  showPicture(client, { png: new Uint8Array(3), name: 'a.png', alt: 'a' }, { channel: CHANNEL, threadTs: null }, USER)

const opened = (client: Slack['client']) =>
  openingReplyTarget({ client, pending: null }, { trigger_id: '1.1' }, null).modalOpener?.open(
    waitingView('Stop', 'Asking CI …'),
  )

type Slack = ReturnType<typeof slackAt>

function slackAt(apiUrl: string) {
  const { log, lines } = recordingLog()
  const clock = systemClock
  const options = { token: 'xoxb-1', apiUrl, logger: { warn: (text: string) => log.warn({}, text) } }
  const client = createClient(options)
  const home = async () => ({ kind: 'home', home: EMPTY_HOME }) as const
  const homes = createHomes(home)
  const drawHome = (user: string) => homes.open({ client, log, newReference: () => 'r-1' }, user, null)
  return {
    lines,
    client,
    drawHome,
    notifier: createSlackNotifier({ ...options, now: clock.now }),
    examiner: createSlackExaminer({ ...options, appToken: 'xapp-1', clock }),
    sendText: createSendText(options),
    directory: createDirectory({ ...options, clock, grants: { operators: ['S00000000'], approvers: [], admins: [] } }),
    memberships: createMemberships({ ...options, clock, log }),
    addresses: createAddresses({ ...options, clock, log }),
  }
}

/** What the samples leave blank, and the bot cannot do without. */
const FILLED: Readonly<Record<string, (url: string) => object>> = {
  'files.getUploadURLExternal': (url) => ({ upload_url: `${url}/upload` }),
  'views.open': () => ({ view: { id: 'V1' } }),
}

/** Answers with the samples; `ok` is blank in them, too. */
const startSamples = (folder: string, ok: boolean) =>
  startHttpStub(({ path, headers }) => {
    const method = path.slice(1)
    if (method === 'upload') return { text: 'OK' }
    const filled = ok ? FILLED[method]?.(`http://${headers.host}`) : {}
    return { json: { ...sampleIn(folder, `api.${method}`), ok, ...filled } }
  })

test('every method that the bot calls has a reader here', () => {
  expect(Object.keys(READERS).toSorted()).toEqual(Object.keys(ANSWERS).toSorted())
})

describeOutside('slack-samples', 'the bot', (folder) => {
  test.each(Object.entries(READERS))("reads Slack's own answer to %s", async (method, [read, says]) => {
    await using stub = await startSamples(folder, true)
    const slack = slackAt(stub.url)
    expect(await read(slack)).toEqual(says)
    expect(stub.requests.map(({ path }) => path)).toContain(`/${method}`)
    expect(slack.lines).toEqual([])
  })

  test.each(Object.entries(READERS))(
    'takes an answer to %s that says neither yes nor why not as broken',
    async (_, [read]) => {
      await using stub = await startSamples(folder, false)
      const slack = slackAt(stub.url)
      const end = await Promise.resolve(read(slack)).catch((error: unknown) => ({ error }))
      expect(JSON.stringify([end, slack.lines])).toMatch(/"code":"(?:broken_answer|slack_webapi_platform_error)"/)
      expect(slack.lines.filter(({ level }) => level === 'error')).toEqual([])
    },
  )
})
