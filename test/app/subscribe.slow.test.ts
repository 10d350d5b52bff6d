import { describe, expect, it } from 'vitest'
import { SUBSCRIPTION_ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, settled, until } from '../support/app.ts'
import {
  answersTo,
  cardIn,
  openScene,
  openReady,
  press,
  pushRed,
  reload,
  startBot,
  type,
  untilAnswered,
  untilCard,
  untilKnown,
  type Scene,
  type World,
} from '../support/world.ts'

const { builds: BUILDS, web: WEB, elsewhere: ELSEWHERE, shared: SHARED } = CHANNELS
const { ada, grace, gus, sol } = PEOPLE

const linesIn = ({ slack }: Pick<Scene, 'slack'>, channel: string): string[] =>
  slack.messages(channel).flatMap(({ text }) => (/subscribed this channel/.test(String(text)) ? [String(text)] : []))

const kept = ({ folder }: Pick<Scene, 'folder'>) =>
  rowsOf(folder, 'select channel, rules, quiet, mention from subscription')

const answered = async (world: World, user: string, line: string, channel: string = WEB): Promise<string> => {
  const before = answersTo(world, user, channel).length
  await type(world, user, line, channel)
  return until(`${line} is answered`, () => answersTo(world, user, channel)[before]?.text)
}

describe('/ci subscribe', () => {
  it('subscribes the channel to what was typed, says so there once, and applies to the next build', async () => {
    const world = await openReady()
    await type(world, ada, '/ci subscribe acme/web failed main quiet no-mention', WEB)
    await untilAnswered(world, ada, ['*Subscribed* to *acme/web*: failed on `main`.'], WEB)
    expect(linesIn(world, WEB)).toEqual([
      `:bell: <@${ada}> subscribed this channel to acme/web: failed on \`main\`; quiet; mentions nobody.`,
    ])
    await pushRed(world)
    await untilCard(world, ['Failed', 'acme/web'], undefined, WEB)
    await pushRed(world, 'acme/web', 'next')
    await settled(world.app.url)
    expect(cardIn(world.slack, WEB, 'Failed', 'next')).toBeUndefined()
    // The default channel gets only builds that no other channel follows.
    expect(cardIn(world.slack, BUILDS, 'Failed')).toBeUndefined()
  })

  it('replaces an earlier subscription, and shows it; the same command again posts nothing', async () => {
    const world = await openReady()
    await answered(world, ada, '/ci subscribe acme/web failed main')
    expect(await answered(world, grace, '/ci subscribe web started main')).toContain(
      '*Subscribed* to *acme/web*: started on `main`.',
    )
    expect(await answered(world, ada, '/ci subscribe acme/web@main started')).toContain('*Already subscribed*')
    expect(linesIn(world, WEB).at(-1)).toBe(
      `:bell: <@${grace}> subscribed this channel to acme/web: started on \`main\`. Before: failed on \`main\`.`,
    )
    expect([linesIn(world, WEB).length, kept(world).length]).toEqual([2, 1])
  })

  it('that Slack delivers twice is stored and posted once', async () => {
    const world = await openReady()
    await answered(world, ada, '/ci subscribe acme/web failed')
    await world.slack.people.replay('command /ci')
    await settled(world.app.url)
    expect(answersTo(world, ada, WEB)).toHaveLength(1)
    expect(linesIn(world, WEB)).toHaveLength(1)
  })

  it("by the project's own rules uses them as CI has them", async () => {
    const world = await openReady()
    await answered(world, ada, '/ci subscribe acme/web')
    expect(await answered(world, ada, '/ci rules')).toContain("the project's rules in CI")
  })

  it.each([
    ['faild', 'could be `failed` or a branch'],
    ['main next', 'expect `next`'],
    ['failed,bogus main', 'expect `bogus`'],
    ['mention no-mention', 'contradict each other'],
    ['/(/', 'not a valid pattern'],
    ['""', 'Which branch?'],
  ])('refuses %s with an example, and stores nothing', async (words, why) => {
    const world = await openReady()
    const answer = await answered(world, ada, `/ci subscribe acme/web ${words}`)
    expect(answer).toContain(why)
    expect(answer).toContain('*Next:* ')
    expect(kept(world)).toEqual([])
    expect(linesIn(world, WEB)).toEqual([])
  })

  it('offers the projects that a name can mean, and keeps the other words', async () => {
    const world = await openReady()
    await type(world, ada, '/ci subscribe acme failed release/*', WEB)
    const choice = await untilAnswered(world, ada, ['projects* match'], WEB)
    await press(world, ada, choice, 'choose_1', WEB)
    const line = await until('the channel hears it', () => linesIn(world, WEB)[0])
    expect(line).toContain('failed on branches like `release/*`')
    expect(kept(world)).toHaveLength(1)
  })

  it('is not for guests or people of another workspace', async () => {
    const world = await openReady()
    expect(await answered(world, gus, '/ci subscribe acme/web')).toContain('you cannot change subscriptions')
    expect(await answered(world, sol, '/ci subscribe acme/web', SHARED)).toContain('you cannot')
    expect(await answered(world, gus, '/ci unsubscribe acme/web')).toContain('you cannot')
    expect(kept(world)).toEqual([])
  })

  it('does not change what the file sets, but shows it', async () => {
    const world = await openReady({ subscriptions: [`{ channel: ${WEB}, project: acme/web, events: [failed] }`] })
    expect(await answered(world, ada, '/ci subscribe acme/web')).toContain('the subscriptions file sets')
    expect(await answered(world, ada, '/ci unsubscribe acme/web')).toContain('cannot be changed from Slack')
    const rules = await answered(world, ada, '/ci rules')
    expect(rules).toContain('set by the subscriptions file')
    expect(await answered(world, ada, '/ci rules', BUILDS)).toContain('set by DEFAULT_CHANNEL')
  })

  it('in a channel without the bot stores nothing, and says how to invite the bot', async () => {
    const world = await openReady()
    await type(world, ada, '/ci subscribe acme/web failed', ELSEWHERE)
    await untilAnswered(world, ada, ['*Nothing changed*', 'Buildline is not in it', '/invite @Buildline'], ELSEWHERE)
    expect(kept(world)).toEqual([])
    world.slack.acts.inviteBot(ELSEWHERE)
    reload(world)
    await type(world, ada, '/ci subscribe acme/web failed', ELSEWHERE)
    await untilAnswered(world, ada, ['*Subscribed*'], ELSEWHERE)
  })
})

describe('@buildline subscribe', () => {
  it('does the same, although a mention cannot open a form', async () => {
    const world = await openReady()
    await world.slack.people.mentionBot({ user: ada, channel: WEB, text: 'subscribe acme/web failed' })
    await untilAnswered(world, ada, ['Subscribed'], WEB)
    reload(world)
    await world.slack.people.mentionBot({ user: ada, channel: WEB, text: 'subscribe' })
    await untilAnswered(world, ada, ['this command needs a project'], WEB)
  })
})

describe('/ci rules', () => {
  it('shows each subscription with its source of rules and its maker; Remove asks, and then ends one', async () => {
    const world = await openReady()
    await answered(world, ada, '/ci subscribe acme/web failed main')
    await answered(world, grace, '/ci subscribe acme/api')
    await type(world, ada, '/ci rules', WEB)
    const rules = await untilAnswered(world, ada, ['2 subscriptions'], WEB)
    for (const words of [
      '*acme/web*: failed on `main`',
      "the project's rules in CI",
      `made by <@${ada}>`,
      `made by <@${grace}>`,
    ])
      expect(rules.text).toContain(words)
    const click = { user: ada, channel: WEB, ts: rules.ts, actionId: SUBSCRIPTION_ACTION_IDS.remove }
    expect(await world.slack.people.click({ ...click, confirmed: false })).toMatchObject({ kind: 'unsent' })
    await world.slack.people.click(click)
    await until('one is removed', () => kept(world).length === 1)
    await until('the channel hears it', () =>
      linesIn(world, WEB).some((line) => line.includes('unsubscribed this channel from acme/web')),
    )
  })

  it('test predicts which channels get a build, and then they do', async () => {
    const world = await openReady()
    await answered(world, ada, '/ci subscribe acme/web failed main')
    const dry = await answered(world, ada, '/ci rules test acme/web main')
    expect(dry).toMatch(new RegExp(`\\*failed, broken\\*\\n\\s+• <#${WEB}> \\*would get it\\*: A rule selects`))
    expect(dry).toContain(`*started, success, recovered, waiting, stopped*\n    • <#${WEB}> *would not get it*`)
    expect(cardIn(world.slack, WEB, 'Failed')).toBeUndefined()
    await pushRed(world)
    await untilCard(world, ['Failed', 'acme/web'], undefined, WEB)
  })

  it.each([
    ['/ci rules test', 'a project and a branch'],
    ['/ci rules test acme/web', 'a branch after the project'],
    ['/ci rules test acme/web main exploded', '*No such event*'],
    ['/ci rules test nobody/knows main', '*No project matches*'],
    ['/ci rules everything', 'expect `'],
  ])('%s says what is missing', async (line, words) => {
    expect(await answered(await openReady(), ada, line)).toContain(words)
  })
})

const field = (name: string, selected: Record<string, unknown>) => ({
  user: ada,
  actionId: `subscribe_${name}`,
  selected,
})
const option = (text: string, value: string) => ({ text: { type: 'plain_text', text, emoji: false }, value })
const OWN = option('Events that I choose', 'own')

const modalOf = ({ slack }: Pick<Scene, 'slack'>): string => JSON.stringify(slack.views.stack(ada).at(-1) ?? {})

async function openForm(world: World): Promise<void> {
  await type(world, ada, '/ci subscribe', WEB)
  await until('the form is open', () => modalOf(world).includes('subscribe_project'))
}

const choose = async (world: World, project: string): Promise<void> => {
  const { options } = await world.slack.people.suggest({ user: ada, actionId: 'subscribe_project', value: project })
  await world.slack.people.select(field('project', { selected_option: options[0] }))
}

const typeBranch = (world: World, value: string) => world.slack.people.select(field('branch', { value }))

describe('the form of a subscription', () => {
  it('offers our projects and all of them', async () => {
    const world = await openReady()
    await openForm(world)
    const { options } = await world.slack.people.suggest({ user: ada, actionId: 'subscribe_project', value: '' })
    const labels = JSON.stringify(options)
    for (const name of ['All projects', 'acme/web', 'acme/api']) expect(labels).toContain(name)
    const api = await world.slack.people.suggest({ user: ada, actionId: 'subscribe_project', value: 'api' })
    expect(JSON.stringify(api.options)).not.toContain('All projects')
  })

  it("has events and branches if the channel has its own rules, but not if CI's rules decide", async () => {
    const world = await openReady()
    await openForm(world)
    await world.slack.people.select(field('how', { selected_option: option("What the project's own rules say", 'ci') }))
    await until('they are gone', () => !modalOf(world).includes('subscribe_events'))
    await world.slack.people.select(field('how', { selected_option: OWN }))
    await until('they are back', () => modalOf(world).includes('subscribe_events'))
  })

  it('can be submitted, is stored and posted in the channel, and shows the answer', async () => {
    const world = await openReady()
    await openForm(world)
    await choose(world, 'acme/api')
    await typeBranch(world, 'release/*')
    expect(await world.slack.people.submitView({ user: ada })).toMatchObject({ status: 200 })
    await until('the answer is there', () => modalOf(world).includes('*Subscribed* to'))
    expect(linesIn(world, WEB)).toEqual([
      `:bell: <@${ada}> subscribed this channel to acme/api: changes on branches like \`release/*\`.`,
    ])
    expect(kept(world)).toMatchObject([{ channel: WEB, quiet: 0, mention: 'committer' }])
  })

  it.each([
    ['“release–1”.', 'release-1'],
    ['main,', 'main'],
    ['"main,"', 'main,'],
    ['^main,$', '^main,$'],
  ])('reads %s as the branch %s: only quotes and patterns keep marks', async (typed, branch) => {
    const world = await openReady()
    for (const known of ['main', 'main,', 'release-1']) await pushRed(world, 'acme/web', known)
    await untilKnown(world, 3)
    await openForm(world)
    await choose(world, 'acme/web')
    await typeBranch(world, typed)
    await world.slack.people.submitView({ user: ada })
    await until('it is kept', () => kept(world).length === 1)
    expect(rowsOf(world.folder, 'select rules from subscription')).toEqual([
      { rules: expect.stringContaining(`"branch":${JSON.stringify(branch)}`) },
    ])
  })

  it('shows errors at the field, and stays open', async () => {
    const world = await openReady()
    await openForm(world)
    await choose(world, 'acme/web')
    await typeBranch(world, '/(/')
    expect(await world.slack.people.submitView({ user: ada })).toMatchObject({
      errors: { subscribe_branch: expect.stringContaining('not a valid pattern') },
    })
    await typeBranch(world, '')
    await world.slack.people.select(field('how', { selected_option: OWN }))
    await until('there are events', () => modalOf(world).includes('subscribe_events'))
    const values = { subscribe_events: { subscribe_events: { type: 'checkboxes', selected_options: [] } } }
    expect(await world.slack.people.submitView({ user: ada, values })).toMatchObject({
      errors: { subscribe_events: expect.stringContaining('at least one event') },
    })
    expect(kept(world)).toEqual([])
  })

  it('changes a subscription: it begins with its values, and replaces it', async () => {
    const world = await openReady()
    await answered(world, ada, '/ci subscribe acme/web started ^v[0-9]+$ quiet no-mention')
    await type(world, ada, '/ci rules', WEB)
    const rules = await untilAnswered(world, ada, ['1 subscription'], WEB)
    await press(world, ada, rules, SUBSCRIPTION_ACTION_IDS.change, WEB)
    await until('the form is open', () => modalOf(world).includes('subscribe_project'))
    expect(modalOf(world)).toContain('"initial_value":"^v[0-9]+$"')
    await typeBranch(world, 'main')
    await world.slack.people.submitView({ user: ada })
    await until('the answer is there', () => modalOf(world).includes('*Subscribed* to'))
    expect(linesIn(world, WEB).at(-1)).toBe(
      `:bell: <@${ada}> subscribed this channel to acme/web: started on \`main\`; quiet; mentions nobody. Before: started on branches that match \`^v[0-9]+$\`; quiet; mentions nobody.`,
    )
    expect(kept(world)).toHaveLength(1)
  })

  it('is not opened for a subscription that was removed meanwhile', async () => {
    const world = await openReady()
    await answered(world, ada, '/ci subscribe acme/web failed')
    await type(world, ada, '/ci rules', WEB)
    const rules = await untilAnswered(world, ada, ['1 subscription'], WEB)
    await answered(world, grace, '/ci unsubscribe')
    await press(world, ada, rules, SUBSCRIPTION_ACTION_IDS.change, WEB)
    await untilAnswered(world, ada, ['Nothing changed'], WEB)
    expect(world.slack.views.stack(ada)).toEqual([])
  })

  it('tells a guest that it is not for guests', async () => {
    const world = await openReady()
    await type(world, gus, '/ci subscribe', WEB)
    const form = () => JSON.stringify(world.slack.views.stack(gus))
    await until('it says so', () => form().includes('you cannot change subscriptions'))
    expect(form()).not.toContain('subscribe_project')
  })

  it('works after the bot was restarted while the form was open', async () => {
    const world = await openReady()
    await openForm(world)
    await choose(world, 'acme/web')
    await world.restartApp()
    await untilKnown(world, 0)
    await world.slack.people.submitView({ user: ada })
    await until('it is kept', () => kept(world).length === 1)
  })
})

describe('a bot that is killed between storing and posting', () => {
  it('has stored the subscription, tells the requester so, and posts nothing twice', async () => {
    const scene = await openScene()
    const bot = await startBot(scene)
    await untilKnown(scene, 0)
    scene.slack.faults.add({ kind: 'ratelimited', method: 'chat.postMessage', retryAfterS: 4 })
    await type(scene, ada, '/ci subscribe acme/web failed', WEB)
    await until('it is kept', () => kept(scene).length === 1)
    bot.kill('SIGKILL')
    await bot.exit
    scene.slack.faults.clear()
    await startBot(scene)
    await untilAnswered(scene, ada, ['*Already subscribed*'], WEB)
    expect(kept(scene)).toHaveLength(1)
    await type(scene, ada, '/ci subscribe acme/web failed', WEB)
    await untilAnswered(scene, ada, ['*Already subscribed*'], WEB)
    expect(linesIn(scene, WEB)).toEqual([])
    await pushRed(scene)
    await untilCard(scene, ['Failed', 'acme/web'], undefined, WEB)
  })
})
