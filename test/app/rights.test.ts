import { describe, expect, it } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { ACCOUNTS, CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { until, type Settings } from '../support/app.ts'
import {
  answersTo,
  openWorld,
  press,
  pressAgain,
  type,
  untilAnswered,
  untilCard,
  untilThread,
} from '../support/world.ts'
import { writesTo, type Shown, type World } from '../support/world.ts'

const { builds: BUILDS, shared: SHARED } = CHANNELS
const { ada, grace, lin, gus, sol } = PEOPLE

/** A running build with its card, in #builds or in the channel that follows. */
async function openRunning(settings: Settings = {}, channel: string = BUILDS): Promise<{ world: World; card: Shown }> {
  const subscriptions = channel === BUILDS ? {} : { subscriptions: [`{ channel: ${channel}, project: all }`] }
  const world = await openWorld({ settings, ...subscriptions })
  world.ci.push('acme/web', { outcome: 'none' })
  return { world, card: await untilCard(world, ['Running'], ACTION_IDS.stop, channel) }
}

describe('without CI_OPERATORS', () => {
  it('a guest cannot stop a build in any way, but can read', async () => {
    const { world, card } = await openRunning()
    await press(world, gus, card, ACTION_IDS.stop)
    await untilAnswered(world, gus, ['Not allowed', 'you cannot stop builds', 'Guests can only read'])
    await type(world, gus, '/ci stop acme/web')
    await world.slack.people.mentionBot({ user: gus, channel: BUILDS, text: 'stop', threadTs: card.ts })
    const refusals = () => answersTo(world, gus).filter(({ text }) => text.includes('you cannot stop builds'))
    await until('each is refused', () => refusals().length === 3)
    await type(world, gus, '/ci status acme/web')
    await untilAnswered(world, gus, ['Running', '#501'])
    expect(writesTo(world.ci, 'stop')).toEqual([])
  })

  it('a member can', async () => {
    const { world, card } = await openRunning()
    await press(world, lin, card, ACTION_IDS.stop)
    await untilThread(world, card, `Stop requested by <@${lin}>`)
    expect(writesTo(world.ci, 'stop')).toHaveLength(1)
  })

  it('a person of another workspace, in a shared channel, can neither act nor read', async () => {
    const { world, card } = await openRunning({}, SHARED)
    await press(world, sol, card, ACTION_IDS.stop, SHARED)
    await untilAnswered(world, sol, ['you cannot stop builds', 'Your account belongs to another workspace'], SHARED)
    await world.slack.people.mentionBot({ user: sol, channel: SHARED, text: 'restart', threadTs: card.ts })
    await untilAnswered(world, sol, ['you cannot restart builds'], SHARED)
    await type(world, sol, '/ci status acme/web', SHARED)
    const refused = await untilAnswered(
      world,
      sol,
      ['you cannot see builds', 'Your account belongs to another workspace'],
      SHARED,
    )
    expect([refused.text.includes('#501'), writesTo(world.ci, 'stop').length]).toEqual([false, 0])
    await press(world, ada, card, ACTION_IDS.stop, SHARED)
    await untilAnswered(world, ada, ['Stop requested'], SHARED)
    expect(writesTo(world.ci, 'stop')).toHaveLength(1)
  })

  it('a person whose account is deactivated cannot', async () => {
    const { world, card } = await openRunning()
    await press(world, ACCOUNTS.deactivated, card, ACTION_IDS.stop)
    await untilAnswered(world, ACCOUNTS.deactivated, ['Not allowed', 'Your account is deactivated'])
    expect(writesTo(world.ci, 'stop')).toEqual([])
  })
})

describe('with CI_OPERATORS', () => {
  it.each([
    ['only Ada', ada, ada, grace],
    ['only a user group', 'S0RELEASE1', grace, lin],
  ])('naming %s, others are told who can', async (_, operators, may, mayNot) => {
    const { world, card } = await openRunning({ CI_OPERATORS: operators })
    await press(world, mayNot, card, ACTION_IDS.stop)
    const helper = operators.startsWith('S') ? `<!subteam^${operators}>` : `<@${operators}>`
    await untilAnswered(world, mayNot, ['Not allowed', 'Ask someone who can', helper])
    expect(writesTo(world.ci, 'stop')).toEqual([])
    await press(world, may, card, ACTION_IDS.stop)
    await untilThread(world, card, `Stop requested by <@${may}>`)
    expect(writesTo(world.ci, 'stop')).toHaveLength(1)
  })
})

describe('while Slack does not say who a person is', () => {
  it('nobody can act, and the same click works once Slack answers', async () => {
    const { world, card } = await openRunning()
    world.slack.faults.add({ kind: 'error', method: 'users.info', error: 'fatal_error', times: 1 })
    await press(world, lin, card, ACTION_IDS.stop)
    await untilAnswered(world, lin, ['Not allowed yet', 'Slack did not say who you are', 'fatal_error', 'Reference:'])
    expect(writesTo(world.ci, 'stop')).toEqual([])
    await pressAgain(world, lin, card, ACTION_IDS.stop)
    await untilThread(world, card, `Stop requested by <@${lin}>`)
    expect(writesTo(world.ci, 'stop')).toHaveLength(1)
  })
})

describe('if CI refuses the credentials', () => {
  const writtenTo = ({ slack }: World, user: string): string[] =>
    [...slack.workspace.channels.values()]
      .filter(({ kind, members }) => kind === 'im' && members.has(user))
      .flatMap(({ messages }) => [...messages.values()].map(({ text }) => text))

  it('each admin is told once in a direct message, and nobody else', async () => {
    const { world, card } = await openRunning({ CI_ADMINS: `${grace},S0RELEASE1` })
    world.ci.addFault({ kind: 'status', statusCode: 401, where: 'v2' })
    await press(world, lin, card, ACTION_IDS.stop)
    await until('Grace is told', () => writtenTo(world, grace).some((text) => text.includes('no build can be stopped')))
    await untilCard(world, ['Running'], ACTION_IDS.stop)
    await pressAgain(world, lin, card, ACTION_IDS.stop)
    await until('the second is answered', () => answersTo(world, lin).length === 2)
    expect([writtenTo(world, grace).length, writtenTo(world, lin)]).toEqual([1, []])
  })
})
