import { expect, it } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { buildOf, rowsOf, sendAll, until } from '../support/app.ts'
import { answersTo, openReady, reload, type, untilKnown, type World } from '../support/world.ts'

const { builds: BUILDS } = CHANNELS
const { ada, grace, lin } = PEOPLE

/** Builds 601 on main, 602 on `main,`, and 603 on `release–1` with the dash. */
async function open(): Promise<World> {
  const world = await openReady()
  await sendAll(
    world.app.url,
    buildOf(601, { status: 'error', committer: "Lin O'Neil" }),
    buildOf(602, { status: 'success', branch: 'main,' }),
    buildOf(603, { status: 'success', branch: 'release-1' }),
  )
  await untilKnown(world, 3)
  return world
}

/** The answer to a line, typed as a command or, with `<@…>` in it, as a message. */
async function answerTo(world: World, line: string, user: string = ada): Promise<string> {
  reload(world)
  if (line.includes('<@')) {
    const ts = `${Date.now() / 1_000}`
    await world.slack.people.sendEvent({ type: 'app_mention', user, channel: BUILDS, ts, text: line })
  } else await type(world, user, line)
  return until('there is an answer', () =>
    answersTo(world, user).find(({ text }) => !text.includes('Still working')),
  ).then(({ text }) => text)
}

const BOT = '<@U0BUILDBOT>'

it('marks, dots, brackets, full-width letters and bare numbers make no difference in commands and mentions', async () => {
  const world = await open()
  const cases: readonly [line: string, ...answer: string[]][] = [
    ['/ci *status*', '1 branch is red'],
    ['/ci _status_ *acme/web*', 'branches'],
    [`${BOT} *status*`, '#60'],
    [`*${BOT} status*`, '#60'],
    [`${BOT}: “status #601”!`, 'Failed', '#601'],
    [`${BOT} *restart (#601)*`, '#601', '*Not restarted*'],
    ['/ci status #601.', 'Failed', '#601'],
    ['/ci status ＃601', 'Failed', '#601'],
    ['/ci status 601', 'Failed', '#601'],
    ['/ci status 11', 'branches'],
    ['/ci restart (#601)', '#601', '*Not restarted*'],
    ['/ci-restart `#601`', '#601', '*Not restarted*'],
    ['/ci status acme/web *main*', 'Failed', '#601'],
    ['/ci status acme/web “release–1”', 'Passed', '#603'],
    ['/ci status （acme/web@release—1）', 'No build yet'],
    ['/ci status acme/web, main.', 'Failed', '#601'],
  ]
  for (const [line, ...answer] of cases) {
    const text = await answerTo(world, line)
    for (const words of answer) expect(text, line).toContain(words)
  }
})

it('a name that has marks itself is typed in quotes', async () => {
  const world = await open()
  for (const line of ['/ci status acme/web "main,"', '/ci status acme/web “main,”'])
    expect(await answerTo(world, line), line).toContain('#602')
  expect(await answerTo(world, '/ci status acme/web main,')).toContain('#601')
})

it('no other build is meant than the one that was named, though a project is almost called so', async () => {
  const world = await open()
  const of = (project_id: number, name: string) => ({ project_id, project_name: name, project_full_name: name })
  await sendAll(
    world.app.url,
    buildOf(701, { status: 'error', ...of(901, 'acme/web-601') }),
    buildOf(702, { status: 'error', ...of(902, 'internal') }),
    buildOf(703, { status: 'error', ...of(903, 'acme/_internal_') }),
  )
  await untilKnown(world, 6)
  const cases = { '601': '#601', '#601': '#601', 'web-601': '#701', internal: '#702', '"_internal_"': '#703' }
  for (const [named, meant] of Object.entries(cases))
    for (const command of ['status', 'restart'])
      expect(await answerTo(world, `/ci ${command} ${named}`), `${command} ${named}`).toContain(meant)
})

it('a subscription is stored with the plain names of its project and branches', async () => {
  const world = await open()
  const patterns = () =>
    rowsOf(world.folder, 'select rules from subscription').flatMap(({ rules }) =>
      (JSON.parse(String(rules)) as Record<string, unknown>[]).map(({ branch, branchMatch }) => ({
        branch,
        branchMatch,
      })),
    )
  expect(await answerTo(world, '/ci subscribe *acme/web* changes release–1')).toContain('*Subscribed* to *acme/web*')
  expect(patterns()).toEqual([{ branch: 'release-1', branchMatch: 'exact' }])
  expect(await answerTo(world, '/ci subscribe acme/web failed *main*')).toContain('Subscribed')
  expect(patterns()).toContainEqual({ branch: 'main', branchMatch: 'exact' })
})

it('O’Neil and O’Neil with another apostrophe are one committer, whoever types it how', async () => {
  const world = await open()
  expect(await answerTo(world, '/ci me “Lin O’Neil”', lin)).toContain("`lin o'neil` *is yours*")
  expect(await answerTo(world, `/ci me "Lin O'Neil"`, grace)).toContain(`<@${lin}>`)
  expect(await answerTo(world, '/ci me lin.', lin)).toContain('`lin` *is yours*')
  expect(rowsOf(world.folder, 'select handle, user_id from person order by handle')).toEqual([
    { handle: 'lin', user_id: lin },
    { handle: "lin o'neil", user_id: lin },
  ])
})

it('an unknown build is named as such, never as a project', async () => {
  const world = await open()
  for (const line of ['/ci stop 999', '/ci restart (#999).', '/ci status #999', `${BOT} status 999`]) {
    const text = await answerTo(world, line)
    expect(text, line).toContain('No build #999 is known')
    expect(text, line).not.toContain('No project matches')
  }
  expect(answersTo(world, ada)).toHaveLength(1)
})
