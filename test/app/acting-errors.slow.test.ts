import { describe, expect, it } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import type { FaultWanted } from '../../packages/sandbox-ci/src/faults.ts'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import {
  openWorld,
  press,
  pressAgain,
  pushRed,
  threadOf,
  untilAnswered,
  untilCard,
  untilThread,
} from '../support/world.ts'
import { writesTo, type Shown, type World } from '../support/world.ts'

const { lin } = PEOPLE

/** What happens to CI's one call, the answer to the requester, and the line in the thread. */
type Meets = readonly [name: string, fault: FaultWanted, answer: readonly string[], thread: string]

/** Slack's limit for a first answer, which people expect too. */
const FIRST_ANSWER_MS_MAX = 3_000

const status = (statusCode: number): FaultWanted => ({ kind: 'status', statusCode, times: 1 })

const STOPS: readonly Meets[] = [
  [
    '400',
    status(400),
    ['Not stopped', 'probably not running any more'],
    'CI refused: it is probably too late for that',
  ],
  [
    '401',
    status(401),
    ['Not stopped', "CI does not accept Buildline's credentials", 'Tell a workspace admin'],
    "does not accept Buildline's credentials",
  ],
  ['403', status(403), ['Not stopped', 'lack the right to stop builds'], "Buildline's credentials lack the right"],
  ['404', status(404), ['Not stopped', 'CI has no such running build'], 'it is probably too late for that'],
  ['429', status(429), ['Not stopped', 'too many requests', 'Try again'], 'there were too many requests'],
  ['500', status(500), ['Unclear whether CI stops', 'CI may have done it anyway'], 'not clear yet'],
  ['torn', { kind: 'down', times: 1 }, ['Unclear whether CI stops', 'The connection to CI broke'], 'not clear yet'],
]

const RESTARTS: readonly Meets[] = [
  ['400', status(400), ['Not restarted', 'It may be running again already'], 'it is probably too late for that'],
  [
    '401',
    status(401),
    ['Not restarted', "CI does not accept Buildline's credentials"],
    "does not accept Buildline's credentials",
  ],
  ['403', status(403), ['Not restarted', 'lack the right to restart builds'], "Buildline's credentials lack the right"],
  ['404', status(404), ['Not restarted', 'CI no longer has this build'], 'it is probably too late for that'],
  ['429', status(429), ['Not restarted', 'Nothing was started'], 'there were too many requests'],
  ['500', status(500), ['Unclear whether CI runs', 'CI may have done it anyway'], 'not clear yet'],
  ['torn', { kind: 'down', times: 1 }, ['Unclear whether CI runs', 'The connection to CI broke'], 'not clear yet'],
]

describe('an error of CI', () => {
  it('has its own words in answer and thread, and the call is not repeated', async () => {
    const tried = [
      ...STOPS.map(([name, ...meets]) => [`Stop: ${name}`, () => stopUnder(...meets)] as const),
      ...RESTARTS.map(([name, ...meets]) => [`Restart: ${name}`, () => restartUnder(...meets)] as const),
      ['Restart: done, and its answer lost', restartUnheard] as const,
    ]
    const ends = await Promise.all(tried.map(async ([name, attempt]) => [name, await attempt().catch(String)] as const))
    expect(Object.fromEntries(ends)).toEqual(Object.fromEntries(tried.map(([name]) => [name, 'CI was asked once'])))
  }, 60_000)

  // A test of its own, since the first answer is timed: the cases above share the machine.
  it('that is a timeout is announced soon with the news that the answer follows', async () => {
    expect(await stopUnanswered()).toBe('CI was asked once')
  }, 60_000)

  it('that refused a stop leaves the button: a second click stops it, and each request has its line', async () => {
    const { world, card } = await openRunning()
    world.ci.addFault({ ...status(429), where: 'v2' })
    await press(world, lin, card, ACTION_IDS.stop)
    await untilThread(world, card, 'there were too many requests')
    await pressAgain(world, lin, await untilCard(world, ['Running'], ACTION_IDS.stop), ACTION_IDS.stop)
    await untilCard(world, ['Stopped'])
    await untilThread(world, card, `Stop requested by <@${lin}>`, 'Stopped')
    expect(writesTo(world.ci, 'stop').map(({ statusCode }) => statusCode)).toEqual([429, 202])
  })

  it('at the look-up of uuids means that nothing was done, and leaves no line in the thread', async () => {
    const { world, card } = await openRunning()
    world.ci.addFault({ kind: 'status', statusCode: 401, where: 'legacy' })
    await press(world, lin, card, ACTION_IDS.stop)
    await untilAnswered(world, lin, ['The request to CI failed', 'nothing was done', 'Reference:'])
    expect([threadOf(world, card), writesTo(world.ci, 'stop')]).toEqual([[], []])
  })
})

async function openRunning(): Promise<{ world: World; card: Shown }> {
  const world = await openWorld()
  world.ci.push('acme/web', { outcome: 'none' })
  return { world, card: await untilCard(world, ['Running'], ACTION_IDS.stop) }
}

async function stopUnder(...[fault, answer, thread]: [FaultWanted, readonly string[], string]): Promise<string> {
  const { world, card } = await openRunning()
  world.ci.addFault({ ...fault, where: 'v2', method: 'POST' })
  return pressAndHear(world, card, 'stop', answer, thread)
}

async function restartUnder(...[fault, answer, thread]: [FaultWanted, readonly string[], string]): Promise<string> {
  const world = await openWorld()
  await pushRed(world)
  const card = await untilCard(world, ['Failed'], ACTION_IDS.restart)
  world.ci.addFault({ ...fault, where: 'legacy', method: 'POST' })
  return pressAndHear(world, card, 'restart', answer, thread)
}

/** CI accepts the connection and does not answer: the requester is soon told to wait, and later how it ended. */
async function stopUnanswered(): Promise<string> {
  const { world, card } = await openRunning()
  // Only for writes, since the list of projects may still be read.
  world.ci.addFault({ kind: 'hang', where: 'v2', method: 'POST', times: 1 })
  const pressedAt = Date.now()
  const [heard, firstAfterMs] = await Promise.all([
    pressAndHear(world, card, 'stop', ['Unclear whether CI stops', 'did not answer in time'], 'not clear yet'),
    untilAnswered(world, lin, ['Still working on', 'will follow here']).then(() => Date.now() - pressedAt),
  ])
  return firstAfterMs < FIRST_ANSWER_MS_MAX ? heard : 'the first answer came too late'
}

/** CI has restarted the build, but neither its answer nor its deliveries arrive. Only a look-up shows it. */
async function restartUnheard(): Promise<string> {
  const world = await openWorld({ ci: { switches: { buildMs: 0 } } })
  await pushRed(world)
  const card = await untilCard(world, ['Failed'], ACTION_IDS.restart)
  world.ci.setSwitches({ holdDeliveries: true })
  world.ci.addFault({ kind: 'lost-answer', where: 'legacy', method: 'POST', times: 1 })
  const heard = await pressAndHear(world, card, 'restart', ['Unclear whether CI runs'], 'not clear yet')
  await untilCard(world, ['Passed on attempt 2'], ACTION_IDS.open)
  await untilThread(world, card, `Restart requested by <@${lin}>`, 'attempt 2')
  return writesTo(world.ci, 'restart').length === 1 ? heard : 'CI was asked again'
}

async function pressAndHear(
  world: World,
  card: Shown,
  action: 'stop' | 'restart',
  answer: readonly string[],
  thread: string,
): Promise<string> {
  await press(world, lin, card, ACTION_IDS[action])
  await untilAnswered(world, lin, [...answer, 'Reference:'])
  await untilThread(world, card, `requested by <@${lin}>`, thread)
  const times = writesTo(world.ci, action).length
  return times === 1 ? 'CI was asked once' : `CI was asked ${times} times`
}
