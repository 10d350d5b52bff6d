import { expect, it } from 'vitest'
import { CHANNELS, PEOPLE } from '../../../packages/sandbox-slack/src/workspace.ts'
import { buildOf, sendAll, settled, until } from '../../support/app.ts'
import { openWorld, reload, type, untilAnswered, untilKnown } from '../../support/world.ts'
import { saidIn } from '../../app/channel.ts'

const { builds: BUILDS, web: WEB, ops: OPS, secret: SECRET } = CHANNELS
const { ada, grace, lin } = PEOPLE

it('/ci why shows for each channel every rule with its conditions, the reason, and what was posted', async () => {
  const world = await openWorld({
    subscriptions: [
      `{ channel: ${WEB}, project: acme/web, branch: main, events: [failed] }`,
      `{ channel: ${OPS}, project: acme/web, branch: "release/*" }`,
      `{ channel: ${BUILDS}, project: acme/web, branch: main, events: [success] }`,
    ],
  })
  await sendAll(world.app.url, buildOf(7, { status: 'error' }))
  await until('#web is told', () => saidIn(world.slack, WEB).length === 1)
  await type(world, ada, '/ci why #7')
  const { text, ...answer } = await untilAnswered(world, ada, ['*Failed*', '#7'])
  const card = saidIn(world.slack, WEB)[0]!
  const lines = text.split('\n')
  const of = (channel: string): string => {
    const from = lines.findIndex((line) => line.includes(`<#${channel}>`))
    return lines.slice(from, from + 3).join('\n')
  }
  const file = 'in the subscriptions file'
  expect(of(WEB)).toContain('*posted*: error, received')
  expect(of(WEB)).toContain('A rule selects it')
  expect(of(WEB)).toContain(
    `rule 1 (${file}) *selects it*: ✓ branch: \`main\` (exact) matches \`main\`; ✓ event: *failed*`,
  )
  expect(of(WEB)).toContain(`now: <https://slack.com/archives/${WEB}/p${card.ts.replace('.', '')}|card>`)
  expect(of(OPS)).toContain(
    `rule 1 (${file}) *fails at its branch*: ✗ branch: \`release/*\` (wildcard) does not match \`main\``,
  )
  expect(of(OPS)).toContain('nothing was posted')
  expect(of(BUILDS)).toContain('*not posted*')
  expect(of(BUILDS)).toContain(
    `*fails at its events*: ✓ branch: \`main\` (exact) matches \`main\`; ✗ event: failed, broken are not among success`,
  )
  expect([saidIn(world.slack, OPS), saidIn(world.slack, BUILDS)]).toEqual([[], []])
  expect(JSON.stringify(answer)).toContain('Open build')
})

it('/ci why and a dry run show details of a private channel only to its members, and in the channel', async () => {
  const world = await openWorld({ subscriptions: [`{ channel: ${SECRET}, project: acme/web, branch: "hidden/*" }`] })
  await sendAll(world.app.url, buildOf(7, { status: 'error' }))
  await untilKnown(world, 1)
  await settled(world.app.url)
  const saidTo = async (user: string, line: string, channel: string) => {
    reload(world)
    await type(world, user, line, channel)
    return JSON.stringify(await untilAnswered(world, user, ['acme/web'], channel))
  }
  for (const line of ['/ci why #7', '/ci rules test acme/web main failed']) {
    const toLin = await saidTo(lin, line, BUILDS)
    expect(toLin).toContain('One channel is not shown')
    for (const own of [SECRET, 'hidden/*']) expect(toLin).not.toContain(own)
    for (const channel of [BUILDS, SECRET]) expect(await saidTo(grace, line, channel)).toContain('hidden/*')
  }
})
