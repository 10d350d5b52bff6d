import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { buildOf, openStage, sendAll, settled, until, type RunningApp } from '../support/app.ts'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'

const { builds: BUILDS } = CHANNELS

type Line = Record<string, unknown> & { msg: string }

const linesOf = ({ lines }: RunningApp): Line[] => lines.map((line) => JSON.parse(line) as Line)

/** The log lines of one delivery. Each step is found by ids of the step before. */
function follow(app: RunningApp, buildEvent: number): { steps: Line[] } {
  const lines = linesOf(app)
  const [came] = lines.filter((line) => line.msg === 'delivery' && line['buildEvent'] === buildEvent)
  const taken = lines.filter(
    (line) => line.msg === 'ingested' && (line['buildEvents'] as number[]).includes(buildEvent),
  )
  const subject = String(came?.['revision'])
  const told = lines.filter(
    (line) =>
      line.msg === 'sent' &&
      String(line['subject']).startsWith(`${subject}/`) &&
      Number(line['buildEvent']) >= buildEvent,
  )
  return { steps: [came, ...taken, ...told].filter((line) => line !== undefined) }
}

it.each(['info', 'debug'])('the log can be followed from a delivery to the message, at %s', async (level) => {
  const { app, slack } = await openStage({
    settings: { DEFAULT_CHANNEL: BUILDS, LOG_LEVEL: level },
    slack: { rates: 'off' },
  })
  await sendAll(app.url, buildOf(512, { status: 'initiated' }), buildOf(513, { status: 'error' }))
  await settled(app.url)
  await sendAll(app.url, buildOf(512, { status: 'success' }))
  // A step is logged just after it is stored.
  await until('the reply is logged', () => follow(app, 1).steps.length === 5)
  const { steps } = follow(app, 1)
  expect(steps).toMatchObject([
    { msg: 'delivery', buildEvent: 1, build: '512', status: 'initiated', answer: 'recorded' },
    { msg: 'ingested', buildEvents: [1], verdicts: { post: 1 } },
    { msg: 'sent', buildEvent: 1, channel: BUILDS, queue: 'post', slot: 'card', outcome: 'sent' },
    { msg: 'sent', queue: 'post', slot: 'run:512.1', outcome: 'sent' },
    { msg: 'sent', queue: 'edit', outcome: 'sent' },
  ])
  const { steps: failed } = follow(app, 2)
  expect(failed.map(({ msg }) => msg)).toEqual(['delivery', 'ingested', 'sent'])
  // The last step has the message's ts.
  expect(slack.messages(BUILDS).map(({ ts }) => ts)).toContain(failed.at(-1)?.['ts'])
})

it('the log says where a delivery ended that led to no message', async () => {
  const { app } = await openStage({ subscriptions: [`{ channel: ${BUILDS}, project: all, events: [failed] }`] })
  await sendAll(app.url, buildOf(512, { status: 'initiated' }))
  await until('both steps are logged', () => follow(app, 1).steps.length === 2)
  expect(follow(app, 1).steps).toMatchObject([{ msg: 'delivery' }, { msg: 'ingested', verdicts: { silent: 1 } }])
  expect(linesOf(app).filter(({ msg }) => msg === 'decided')).toMatchObject([{ verdict: 'silent' }])
})

it('the log has the lines that docs/operations/logs.md shows', async () => {
  const { app } = await openStage({ settings: { DEFAULT_CHANNEL: BUILDS } })
  await sendAll(app.url, buildOf(512, { status: 'initiated' }))
  await settled(app.url)
  await sendAll(app.url, buildOf(512, { status: 'error' }))
  await settled(app.url)
  const docs = readFileSync(new URL('../../docs/operations/logs.md', import.meta.url), 'utf8')
  const shown = docs.split('\n').filter((line) => line.startsWith('{'))
  expect(shown.length).toBeGreaterThan(5)
  for (const line of shown.map((text) => JSON.parse(text) as Line)) {
    const written = linesOf(app).find(({ msg }) => msg === line.msg)
    expect(Object.keys(written ?? {})).toEqual(Object.keys(line))
    expect(docs).toContain(`| \`${line.msg}\` |`)
  }
})
