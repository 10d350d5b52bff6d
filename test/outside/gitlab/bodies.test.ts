import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signed } from '../../../packages/sandbox-gitlab/src/hook.ts'
import { CHANNELS, PEOPLE } from '../../../packages/sandbox-slack/src/workspace.ts'
import { databaseBytes, openStage, rowsOf, send, until, type Stage } from '../../support/app.ts'
import { describeOutside } from '../../support/outside.ts'
import { cards } from '../../support/sources.ts'
import { threadOf, type, untilAnswered, untilCard } from '../../support/world.ts'
import { changed } from '../fields.ts'

const TOKEN = 'sent-as-it-is-by-gitlab'
const SIGNING = 'whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q='
const ID = 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f'

const withToken = (body: string) => ({ headers: { 'x-gitlab-token': TOKEN }, body })
const withSignature = (body: string) => ({ headers: signed(SIGNING, ID, Date.now(), body), body })

interface Sent {
  headers: Record<string, string>
  body: string
}

async function openBot() {
  const stage = await openStage({
    slack: { rates: 'off' },
    settings: { DEFAULT_CHANNEL: CHANNELS.builds, GITLAB_WEBHOOK_SECRET: `${TOKEN},${SIGNING}` },
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  /** Delivers as GitLab does, and returns the answer. */
  const deliver = async ({ headers, body }: Sent, event = 'Pipeline Hook') => {
    const sending = { path: '/webhooks/gitlab', headers: { 'x-gitlab-event': event, ...headers } }
    const { status, text } = await send(stage.app.url, body, sending)
    return `${status} ${String(JSON.parse(text).status)}`
  }
  return { ...stage, deliver }
}

const kept = ({ folder }: Pick<Stage, 'folder'>): number => rowsOf(folder, 'select 1 from delivery').length

describeOutside('gitlab', 'what others have recorded of GitLab’s webhooks', (folder) => {
  const recorded = (name: string): string => readFileSync(join(folder, `${name}.json`), 'utf8')

  test('is taken with a token or a signature: a pipeline is recorded once, a job is not kept', async () => {
    const bot = await openBot()
    const pipeline = recorded('pipeline')
    expect(await bot.deliver(withSignature(pipeline))).toBe('202 recorded')
    expect(await bot.deliver(withToken(pipeline))).toBe('202 duplicate')
    for (const job of ['job', 'build']) {
      expect(await bot.deliver(withSignature(recorded(job)), 'Job Hook')).toBe('202 ignored')
      expect(await bot.deliver(withToken(recorded(job)), 'Job Hook')).toBe('202 ignored')
    }
    const { headers } = withSignature(pipeline)
    expect(await bot.deliver({ headers, body: pipeline.replace('success', 'failed') })).toBe('401 refused')
    expect(rowsOf(bot.folder, 'select build_id, word, branch from fact')).toEqual([
      { build_id: '31', word: 'success', branch: '!1' },
    ])
  })

  test('is shown to whoever asks, and the values of its variables are nowhere', async () => {
    const bot = await openBot()
    await bot.deliver(withToken(recorded('pipeline')))
    await until('the pipeline is known', () => rowsOf(bot.folder, 'select 1 from build').length === 1)
    await type(bot, PEOPLE.ada, '/ci status gitlab-org/gitlab-test')
    await untilAnswered(bot, PEOPLE.ada, ['Passed', '!1', '#123'])
    expect(recorded('pipeline')).toContain('us-west-1')
    expect(databaseBytes(bot.folder)).not.toContain('us-west-1')
    expect(cards(bot)).toEqual([])
  })

  test('is a card when it fails on the default branch: with its commit, its author and the job that counts', async () => {
    const bot = await openBot()
    await bot.deliver(withToken(failedOnDefault(recorded('pipeline'))))
    const card = await untilCard(bot, ['Failed', 'gitlab-org/gitlab-test #123', '`master`', 'test · bcbb5ec3 · User'])
    expect(JSON.stringify(card)).toContain('failed: test-image, test-build, build-image, staging')
    expect(threadOf(bot, card)).toEqual([])
  })

  test('is the same end in the times of newer versions: ISO 8601 with milliseconds', async () => {
    const bot = await openBot()
    const failed = failedOnDefault(recorded('pipeline'))
    const newer = failed.replaceAll(/"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC"/g, '"$1T$2.123Z"')
    expect(newer).toContain('2016-08-12T15:26:29.123Z')
    expect(await bot.deliver(withToken(failed))).toBe('202 recorded')
    expect(await bot.deliver(withToken(newer))).toBe('202 duplicate')
    expect(rowsOf(bot.folder, 'select 1 from fact')).toHaveLength(1)
  })

  test('is refused, with a reason, only without its ids; any other field may be missing', async () => {
    const bot = await openBot()
    const whole: unknown = JSON.parse(recorded('pipeline'))
    const needed = ['object_attributes', 'object_attributes.id', 'project', 'project.id', 'project.path_with_namespace']
    for (const path of needed) {
      const body = JSON.stringify(changed(whole, path))
      expect([path, await bot.deliver(withToken(body))]).toEqual([path, '400 refused'])
    }
    expect(kept(bot)).toBe(0)
    const spare = Object.keys(whole as object).filter((path) => !needed.includes(path))
    for (const path of [...spare, 'object_attributes.status', 'object_attributes.ref', 'object_attributes.sha'])
      expect([path, await bot.deliver(withToken(JSON.stringify(changed(whole, path))))]).toEqual([
        path,
        expect.stringMatching(/^202 (?:recorded|duplicate)$/),
      ])
  })
})

/** The recorded pipeline, as a push to the default branch that failed in a job. */
function failedOnDefault(recorded: string): string {
  let body: unknown = JSON.parse(recorded)
  for (const [path, value] of [
    ['merge_request', null],
    ['object_attributes.source', 'push'],
    ['object_attributes.status', 'failed'],
    ['object_attributes.detailed_status', 'failed'],
    ['builds[].status', 'failed'],
  ] as const)
    body = changed(body, path, value)
  return JSON.stringify(body)
}
