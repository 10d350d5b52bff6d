import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createSandboxSlack, type SandboxSlack } from '../../../packages/sandbox-slack/src/sandbox-slack.ts'
import { CHANNELS, PEOPLE } from '../../../packages/sandbox-slack/src/workspace.ts'
import { openFolder, rowsOf, settingsWith, startApp, until, type RunningApp } from '../../support/app.ts'
import { describeOutside } from '../../support/outside.ts'
import { sampleIn } from './samples.ts'

const BUILDS = CHANNELS.builds
const BOT = 'U0BUILDBOT'

interface Stage {
  slack: SandboxSlack
  app: RunningApp
  folder: string
}

/** What the samples leave blank, by its path: the kind of the request, the people and places of the sandbox. */
type Filled = Readonly<Record<string, unknown>>

const EVENT: Filled = { type: 'event_callback', team_id: 'T0SANDBOX1', 'authorizations.0.user_id': BOT }
const BY_ADA: Filled = { 'user.id': PEOPLE.ada, 'user.team_id': 'T0SANDBOX1', 'channel.id': BUILDS }

interface Case {
  /** the sample's file, without the folder */
  sample: string
  filled: Filled
  /** fields of the sample that this request does not have: it is a union of many */
  without?: readonly string[]
  /** what the request did; left out: nothing, and Slack got its acknowledgement */
  did?: (stage: Stage) => unknown
}

const isOpen = ({ folder }: Stage): boolean =>
  rowsOf(folder, 'select 1 from channel where closed_code is not null').length === 0

const isTold =
  (words: RegExp, times = 1) =>
  ({ slack }: Stage): boolean =>
    slack.ephemerals(BUILDS, PEOPLE.ada).filter(({ message }) => words.test(message.text)).length === times

const BY_BOT = ['bot_id', 'bot_profile', 'app_id', 'username', 'subtype', 'display_as_bot'].map(
  (name) => `event.${name}`,
)
const MENTION: Filled = {
  'event.bot_id': 'B0OTHERBOT',
  'event.text': `<@${BOT}> help`,
  'event.channel': BUILDS,
  ...EVENT,
}

/** Each event that the manifest subscribes to, and what it does. */
const EVENTS: Readonly<Record<string, readonly Omit<Case, 'filled'>[]>> = {
  app_mention: [
    { sample: 'AppMention', without: BY_BOT, did: isTold(/help/) },
    // By another bot, with its user and without.
    { sample: 'AppMention' },
    { sample: 'AppMention', without: ['event.user'] },
  ],
  member_joined_channel: [{ sample: 'MemberJoinedChannel', did: isOpen }],
  app_home_opened: [{ sample: 'AppHomeOpened', did: ({ slack }) => slack.views.home(PEOPLE.ada) }],
}

/** Nobody has recorded it: a sample of it is in no collection that we know. */
const WITHOUT_SAMPLE = ['channel_id_changed']

let mentions = 0

const eventCases = Object.entries(EVENTS).flatMap(([type, cases]) =>
  cases.map(({ sample, ...one }): [string, Case] => [
    `${type}${one.without ? ` without ${one.without[0]}` : ''}`,
    {
      sample: `event.${sample}Payload`,
      filled: {
        ...MENTION,
        'event.type': type,
        'event.user': type === 'member_joined_channel' ? BOT : PEOPLE.ada,
        'event.ts': `${++mentions}.000100`,
        'event.tab': 'home',
      },
      ...one,
    },
  ]),
)

const interactive = (name: string): string => `app-backend.interactive-components.${name}Payload`

const OTHERS: readonly (readonly [string, Case])[] = [
  [
    'a slash command',
    {
      sample: 'app-backend.slash-commands.SlashCommandPayload',
      filled: { command: '/ci', text: 'help', user_id: PEOPLE.ada, channel_id: BUILDS, team_id: 'T0SANDBOX1' },
      did: isTold(/help/, 2),
    },
  ],
  [
    'a click in a message',
    {
      sample: interactive('BlockAction'),
      filled: { ...BY_ADA, 'container.channel_id': BUILDS, 'actions.0.action_id': 'gone', 'actions.0.type': 'button' },
      without: ['view'],
      did: isTold(/older version/),
    },
  ],
  [
    'a shortcut of a message',
    {
      sample: interactive('MessageShortcut'),
      filled: { ...BY_ADA, callback_id: 'restart_build', 'message.ts': '1.1', message_ts: '1.1' },
      did: isTold(/No build here/),
    },
  ],
  [
    'a submitted form',
    { sample: 'app-backend.views.ViewSubmissionPayload', filled: { ...BY_ADA, 'view.type': 'modal' } },
  ],
  ['a closed form', { sample: 'app-backend.views.ViewClosedPayload', filled: { ...BY_ADA, 'view.type': 'modal' } }],
  ['a click of old', { sample: interactive('AttachmentAction'), filled: BY_ADA }],
]

describeOutside('slack-samples', 'the running bot', (folder) => {
  const { folder: database, remove } = openFolder()
  const slack = createSandboxSlack({ rates: 'off', ackTimeoutMs: PATIENCE_MS })
  let stage: Stage

  beforeAll(async () => {
    await slack.start()
    const app = await startApp(settingsWith(database, { SLACK_API_URL: slack.apiUrl, DEFAULT_CHANNEL: BUILDS }))
    slack.connectBot(`${app.url}/slack/events`)
    stage = { slack, app, folder: database }
  })

  afterAll(async () => {
    await stage.app.stop()
    await slack.stop()
    remove()
  })

  test('gets every event of its manifest', () => {
    const manifest: unknown = parse(readFileSync(new URL('../../../manifest.yml', import.meta.url), 'utf8'))
    const subscribed = valueAt(manifest, ['settings', 'event_subscriptions', 'bot_events'])
    expect(new Set([...Object.keys(EVENTS), ...WITHOUT_SAMPLE])).toEqual(new Set(subscribed as string[]))
  })

  test.each([...eventCases, ...OTHERS])(
    'handles %s',
    { timeout: 2 * PATIENCE_MS },
    async (_, { sample, filled, without = [], did }) => {
      const before = shownIn(stage)
      const body = fill(
        sampleIn(folder, sample),
        { event_id: `Ev${++requests}`, trigger_id: `${requests}.1`, ...filled },
        without,
      )
      expect(await deliver(slack, sample, body)).toMatchObject({ kind: 'answered', status: 200 })
      if (did) await until('it has done what it should', () => did(stage), PATIENCE_MS)
      else expect(shownIn(stage)).toEqual(before)
      expect(errorsIn(stage)).toEqual([])
    },
  )

  test('survives every sample as it is, with all its values blank', async () => {
    const names = globSync('{event,app-backend}.*.json', { cwd: folder }).map((file) => file.replace(/\.json$/, ''))
    for (const name of names) {
      const sample = sampleIn(folder, name)
      const body = name.startsWith('event.')
        ? fill(sample, { type: 'event_callback', event_id: `Ev${++requests}` }, [])
        : sample
      expect([name, await deliver(slack, name, body)]).toMatchObject([name, { kind: 'answered', status: 200 }])
    }
    await stage.app.stop()
    // The answers to the cases above, and nothing more.
    expect(shownIn(stage)).toHaveLength(4)
    expect(errorsIn(stage)).toEqual([])
  })
})

let requests = 0

/** Bolt is loaded by the first request, which takes its time on a busy machine. */
const PATIENCE_MS = 30_000

/** Sends a body as Slack sends its kind, signed. */
function deliver(slack: SandboxSlack, sample: string, body: Record<string, unknown>) {
  if (sample.startsWith('event.'))
    return slack.sender.send({ what: sample, contentType: 'application/json', body: JSON.stringify(body) })
  const fields = sample.includes('slash-commands') ? body : { payload: JSON.stringify(body) }
  const form = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]))
  return slack.sender.send({ what: sample, contentType: 'application/x-www-form-urlencoded', body: form.toString() })
}

function fill(sample: Record<string, unknown>, filled: Filled, without: readonly string[]): Record<string, unknown> {
  const copy = structuredClone(sample)
  for (const [path, value] of Object.entries(filled)) if (value !== undefined) put(copy, path.split('.'), value)
  for (const path of without) {
    const parts = path.split('.')
    const parent = valueAt(copy, parts.slice(0, -1))
    if (typeof parent === 'object' && parent !== null) Reflect.deleteProperty(parent, parts.at(-1)!)
  }
  return copy
}

/** Sets a value where the sample has one. */
function put(copy: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const parent = valueAt(copy, path.slice(0, -1))
  const name = path.at(-1)!
  if (typeof parent === 'object' && parent !== null && name in parent) Reflect.set(parent, name, value)
}

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  )

/** All that people see of the bot. */
const shownIn = ({ slack }: Stage): unknown[] =>
  [...slack.workspace.channels.keys()].flatMap((channel) => [
    ...slack.ephemerals(channel).map(({ message }) => message.text),
    ...slack.messages(channel).map(({ text }) => text),
  ])

const ERROR = 50
/** That Slack takes the app away is one, too. */
const errorsIn = ({ app }: Stage): unknown[] =>
  app.lines
    .map((line) => JSON.parse(line) as { level: number; msg: string; event?: string })
    .filter(({ level, event }) => level >= ERROR && event === undefined)
