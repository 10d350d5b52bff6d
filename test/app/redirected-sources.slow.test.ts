import { describe, expect, test } from 'vitest'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { CHECK_CLAIMS_JOB } from '../../src/ci-sync/reading.ts'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { SOURCE_NAMES } from '../../src/slack/messages/words.ts'
import { rowsOf, settled, until, type Settings } from '../support/app.ts'
import { failed, openPlayed, SOURCES, type Played, type PlayedProject, type Relabelled } from '../support/sources.ts'
import { press, type, untilAnswered, untilCard, untilThread } from '../support/world.ts'

// Whoever knows the secret of a webhook can deliver anything. None of it makes the bot act on another build than the
// one that a person saw, whatever the source.

const { lin } = PEOPLE

/** Only deliveries say anything: polling would correct them. */
const WITHOUT_POLLING: Settings = { GITHUB_REPOSITORIES: undefined, GITLAB_PROJECTS: undefined }

/** Deliveries are made, and do not arrive. */
const NOWHERE = 'http://127.0.0.1:9'

/** A build of which the bot knows nothing yet. @returns the newest delivery about it */
async function unheard(
  { source, folder }: Played,
  how: 'running' | 'failed',
  project: PlayedProject = 'acme/api',
): Promise<string> {
  // Delivered names are checked once a minute, and for the first time at the start.
  const isChecked = () => rowsOf(folder, `select 1 from job where name = '${CHECK_CLAIMS_JOB}'`).length > 0
  await until('the first check of delivered names', isChecked)
  source.deliverTo(source.name === 'ci' ? null : NOWHERE)
  source.push('main', project)
  if (how === 'failed') source.endLast('failed')
  return (await source.sent()).at(-1)!
}

async function forge({ source, app }: Played, body: string, as: Relabelled): Promise<void> {
  expect(await source.send(app.url, source.relabelled(body, as))).toMatchObject({ status: 202 })
}

describe.each(Object.keys(SOURCES) as (keyof typeof SOURCES)[])('%s', (name) => {
  const play = SOURCES[name]
  const word = SOURCE_NAMES[name]
  const open = () => openPlayed(play, WITHOUT_POLLING)

  test.each<PlayedProject>(['acme/web', 'acme/api'])(
    'Restart does not act on a build of acme/api that a delivery calls one of acme/web, with the id of %s',
    async (id) => {
      const stage = await open()
      const body = await unheard(stage, 'failed')
      await forge(stage, body, { id, name: 'acme/web' })
      const card = await untilCard(stage, ['Failed', 'acme/web'], ACTION_IDS.restart)
      // No card shows this one.
      if (name !== 'ci') await forge(stage, body, { id, name: 'acme/api', status: 'skipped' })
      await settled(stage.app.url)
      await press(stage, lin, card, ACTION_IDS.restart)
      await untilAnswered(stage, lin, ['Not restarted', word, 'left it alone'])
      expect(stage.source.asked()).toEqual([])
    },
  )

  test.each<PlayedProject>(['acme/web', 'acme/api'])(
    'Stop does not act on a build of acme/api that a delivery calls one of acme/web, with the id of %s',
    async (id) => {
      const stage = await open()
      const body = await unheard(stage, 'running')
      await forge(stage, body, { id, name: 'acme/web' })
      await settled(stage.app.url)
      // CI lists its projects, and so knows which one is acme/web.
      const card = name === 'ci' ? await untilCard(stage, ['Running', 'acme/web'], ACTION_IDS.stop) : null
      if (card) await press(stage, lin, card, ACTION_IDS.stop)
      else await type(stage, lin, '/ci stop acme/web')
      await untilAnswered(stage, lin, ['Not stopped', word, 'left it alone'])
      expect(stage.source.asked()).toEqual([])
    },
  )

  test.each<[string, Pick<Relabelled, 'branch' | 'commit'>]>([
    ['another branch', { branch: 'fix' }],
    ['another commit', { commit: 'f'.repeat(40) }],
  ])('Restart does not act on a build that a delivery shows with %s', async (_, changes) => {
    const stage = await open()
    const body = await unheard(stage, 'failed', 'acme/web')
    await forge(stage, body, { id: 'acme/web', name: 'acme/web', ...changes })
    await settled(stage.app.url)
    await type(stage, lin, `/ci restart acme/web@${changes.branch ?? 'main'}`)
    await untilAnswered(stage, lin, ['Not restarted', word, 'left it alone'])
    expect(stage.source.asked()).toEqual([])
  })

  test.each([500, 401, 403, 429])('nothing is written if the build cannot be read: %i', async (status) => {
    const stage = await open()
    const { card } = await failed(stage)
    await settled(stage.app.url)
    stage.source.failReads(status)
    await press(stage, lin, card, ACTION_IDS.restart)
    await untilAnswered(stage, lin, [`The request to ${word} failed`, 'nothing was done'])
    expect(stage.source.asked()).toEqual([])
    expect(rowsOf(stage.folder, 'select 1 from request')).toEqual([])
  })
})

/** Names that would lead elsewhere in an address, or that no project can have. */
const ELSEWHERE = [
  'acme/web/../api',
  '../web',
  'acme/..',
  './web',
  'acme//web',
  '/acme/web',
  'acme',
  'acme/we b',
  'acme/web#x',
]

describe.each(['github', 'gitlab'] as const)('%s', (name) => {
  const play = SOURCES[name]
  const word = SOURCE_NAMES[name]
  const open = () => openPlayed(play, WITHOUT_POLLING)
  const stored = ({ folder }: Played) => rowsOf(folder, 'select name from project').map((row) => String(row['name']))

  test('a build whose project was renamed is left alone; the answer has the new name and the link there', async () => {
    const stage = await open()
    const { card } = await failed(stage)
    await settled(stage.app.url)
    stage.source.rename!('acme/site')
    await press(stage, lin, card, ACTION_IDS.restart)
    const answer = await untilAnswered(stage, lin, ['Not restarted', `${word} has it in acme/site`])
    expect(JSON.stringify(answer)).toMatch(/"url":"http[^"]*\/acme\/site\/(?:actions\/runs|-\/pipelines)\/\d+"/)
    expect(stage.source.asked()).toEqual([])
    expect(stored(stage)).toEqual([expect.stringContaining('acme/site')])
  })

  test('a build is left alone if the person named its project by a name that only a delivery said', async () => {
    const stage = await open()
    const body = await unheard(stage, 'failed', 'acme/web')
    await forge(stage, body, { id: 'acme/web', name: 'acme/api', status: 'skipped', commit: 'e'.repeat(40) })
    stage.source.deliverTo(stage.app.url)
    await failed(stage)
    await settled(stage.app.url)
    await type(stage, lin, '/ci restart acme/api@main')
    await untilAnswered(stage, lin, ['Not restarted', `${word} has it in acme/web`])
    expect(stage.source.asked()).toEqual([])
    await type(stage, lin, '/ci restart acme/web@main')
    await untilAnswered(stage, lin, ['Restart requested'])
  })

  test('Restart does not act on a build that a delivery has shown without its commit', async () => {
    const stage = await open()
    const body = await unheard(stage, 'failed', 'acme/web')
    await forge(stage, body, { id: 'acme/web', name: 'acme/web', commit: 'c' })
    await settled(stage.app.url)
    await type(stage, lin, '/ci restart acme/web@main')
    await untilAnswered(stage, lin, ['Not restarted', word, 'left it alone'])
    expect(stage.source.asked()).toEqual([])
  })

  test.each<PlayedProject>(['acme/web', 'acme/api'])(
    'the jobs of a build of acme/api are not told as those of acme/web, with the id of %s',
    async (id) => {
      const stage = await open()
      const body = await unheard(stage, 'failed')
      await forge(stage, body, { id, name: 'acme/web' })
      await untilCard(stage, ['Failed', 'acme/web'], ACTION_IDS.restart)
      const isRead = () => rowsOf(stage.folder, 'select 1 from build where read_end_at is not null').length === 0
      await until('its source was asked', isRead)
      await settled(stage.app.url)
      const events = rowsOf(stage.folder, 'select details from fact').map(({ details }) => String(details))
      expect(events.filter((details) => details.includes('"isWhole":true'))).toEqual([])
    },
  )

  test('a delivery does not rename a known project', async () => {
    const stage = await open()
    await failed(stage)
    const body = (await stage.source.sent()).at(-1)!
    await forge(stage, body, { id: 'acme/web', name: 'acme/api', status: 'skipped' })
    await settled(stage.app.url)
    expect(stored(stage)).toEqual([expect.stringContaining('acme/web')])
    expect(rowsOf(stage.folder, 'select full_name from heard')).toEqual([{ full_name: 'acme/web' }])
  })

  test('a delivery for a project whose name leads elsewhere is refused with the reason, and nothing is stored', async () => {
    const stage = await open()
    const body = await unheard(stage, 'failed', 'acme/web')
    for (const bad of ELSEWHERE) {
      const forged = stage.source.relabelled(body, { id: 'acme/web', name: bad })
      const reason = expect.stringContaining('with usable ids and names')
      expect([bad, await stage.source.send(stage.app.url, forged)]).toMatchObject([bad, { status: 400, text: reason }])
    }
    expect(rowsOf(stage.folder, 'select 1 from delivery')).toEqual([])
  })

  test('the audit and the thread name what was called', async () => {
    const stage = await open()
    const { card } = await failed(stage)
    await press(stage, lin, card, ACTION_IDS.restart)
    await untilThread(stage, card, 'Restart requested')
    const [row] = rowsOf(stage.folder, 'select target from request')
    expect(JSON.parse(String(row?.['target']))).toMatchObject({ project: expect.stringMatching(/^acme\/web(?: CI)?$/) })
    expect(stage.source.asked()).toEqual(['restart'])
  })
})

test('github: Restart does not act on a build whose card an earlier attempt has renamed before the click', async () => {
  const stage = await openPlayed(SOURCES.github, WITHOUT_POLLING)
  const body = await unheard(stage, 'failed')
  const named = JSON.parse(stage.source.relabelled(body, { id: 'acme/api', name: 'acme/web' })) as {
    workflow_run: object
  }
  const second = JSON.stringify({ ...named, workflow_run: { ...named.workflow_run, run_attempt: 2 } })
  expect(await stage.source.send(stage.app.url, second)).toMatchObject({ status: 202 })
  const card = await untilCard(stage, ['Failed', 'acme/web'], ACTION_IDS.restart)
  expect(await stage.source.send(stage.app.url, body)).toMatchObject({ status: 202 })
  await settled(stage.app.url)
  await press(stage, lin, card, ACTION_IDS.restart)
  await untilAnswered(stage, lin, ['Not restarted'])
  expect(stage.source.asked()).toEqual([])
})
