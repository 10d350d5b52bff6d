import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { INPUT_CHARS_MAX } from '../../src/features/kit/fields.ts'
import type { FaultWanted } from '../../packages/sandbox-ci/src/faults.ts'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, until } from '../support/app.ts'
import { untilAnswered, type World } from '../support/world.ts'
import {
  compareBranches,
  grace,
  openPart,
  openProjects,
  projectIn,
  putsTo,
  saidBy,
  submit,
  typing,
  untilModal,
} from './project-forms.ts'

const { builds: BUILDS } = CHANNELS

const statesIn = ({ folder }: World) =>
  rowsOf(folder, 'select action, state, code from request order by asked_at').map((row) => ({ ...row }))

/** The fault is added after CI was read twice, so that it affects the write only. */
async function sendUnder(world: World, fault: FaultWanted): Promise<void> {
  await compareBranches(world, 'main')
  world.ci.addFault({ ...fault, where: 'v2', method: 'PUT' })
  await submit(world)
}

/** The newest message of the channel: it follows the requester's answer. */
const saidIn = ({ slack }: World): string => String(slack.messages(BUILDS).at(-1)?.['text'])

const choose = (block: string, value: string) => ({
  [block]: { value: { selected_option: { text: { type: 'plain_text', text: value, emoji: false }, value } } },
})

const status = (statusCode: number): FaultWanted => ({ kind: 'status', statusCode, times: 1 })

describe('a write that CI refuses', () => {
  it.each([
    ['400', status(400), ['Not changed', 'CI did not accept the values'], 'bad-request'],
    ['403', status(403), ['Not changed', 'lack the right to change projects', 'project.write'], 'forbidden'],
    ['404', status(404), ['Not changed', 'CI no longer has this project'], 'not-found'],
    ['429', status(429), ['Not changed', 'too many requests'], 'rate-limited'],
  ])('(%s) is explained in the form, told in the channel, and changes nothing', async (_, fault, words, code) => {
    const world = await openProjects()
    const before = projectIn(world)
    await sendUnder(world, fault)
    await untilModal(world, [...words, 'Reference'])
    expect(projectIn(world)).toEqual(before)
    expect(statesIn(world)).toEqual([{ action: 'edit-project', state: 'refused', code }])
    await until('the channel is told', () =>
      saidIn(world).endsWith(`<@${grace}> tried to change *acme/web*: branches. CI refused, and nothing was changed.`),
    )
    expect(putsTo(world)).toHaveLength(1)
  })
})

describe('a write with an unknown outcome', () => {
  it('(done, but the answer is lost) is looked up, and reported as done', async () => {
    const world = await openProjects()
    await sendUnder(world, { kind: 'lost-answer', times: 1 })
    await untilModal(world, ['Changed', 'CI has saved it'])
    expect(projectIn(world)).toMatchObject({ branches: ['main'] })
    expect(statesIn(world)).toEqual([{ action: 'edit-project', state: 'confirmed', code: null }])
    expect(putsTo(world)).toHaveLength(1)
  })

  it.each([
    ['500', status(500), 'server'],
    ['torn', { kind: 'down', times: 1 } as const, 'unreachable'],
  ])('(%s, not done) is looked up three times, reported as unclear, and not sent again', async (_, fault, code) => {
    const world = await openProjects()
    await sendUnder(world, fault)
    await untilModal(world, ['Unclear whether CI has changed', 'checked three times', 'does not send it again'])
    // It may still take effect: until it cannot, no other write is let past it.
    expect(statesIn(world)).toEqual([{ action: 'edit-project', state: 'unclear', code }])
    expect(putsTo(world)).toHaveLength(1)
    expect(world.slack.messages(BUILDS)).toEqual([])
  })
})

describe('CI is away', () => {
  it('before the form is filled: the form says so, and nothing is changed', async () => {
    const world = await openProjects()
    world.ci.addFault({ kind: 'status', statusCode: 503, where: 'v2' })
    await world.slack.people.runCommand({
      user: grace,
      channel: BUILDS,
      command: '/ci',
      text: 'project edit acme/web',
    })
    await untilModal(world, ['The project could not be read', 'internal error'])
  })

  it('between the preview and the sending: there is no record, no announcement and no write', async () => {
    const world = await openProjects()
    await compareBranches(world, 'main')
    world.ci.addFault({ kind: 'status', statusCode: 503, where: 'v2' })
    await submit(world)
    await untilModal(world, ['The request to CI failed', 'nothing was changed'])
    expect([statesIn(world), putsTo(world)]).toEqual([[], []])
    expect(world.slack.messages(BUILDS)).toEqual([])
  })
})

describe('a write that CI refuses because of a notifier that CI itself put there', () => {
  const refusing = { ci: { switches: { unknownNotifiers: 'refuse' } } } as const

  it('is offered again without its rule, with a preview, and then sent', async () => {
    const world = await openProjects(refusing)
    await compareBranches(world, 'main')
    await submit(world)
    const offer = await untilModal(world, ['Nothing was changed', '`repository_status`', 'Send without it', '`main`'])
    expect(saidBy(offer)).toContain(':heavy_minus_sign: `repository_status`')
    expect(projectIn(world).branches).not.toEqual(['main'])
    await submit(world)
    await untilModal(world, ['*Changed*'])
    expect(projectIn(world).branches).toEqual(['main'])
    expect(projectIn(world).notification_rules.map(({ notifier }) => notifier)).not.toContain('repository_status')
    expect(statesIn(world).map(({ state }) => state)).toEqual(['refused', 'confirmed'])
  })

  it('names the notifier to the requester if the form was closed', async () => {
    const world = await openProjects(refusing)
    await compareBranches(world, 'main')
    world.ci.addFault({ kind: 'slow', ms: 500, where: 'v2', method: 'PUT', times: 1 })
    await submit(world)
    await world.slack.people.closeView({ user: grace, isCleared: true })
    await untilAnswered(world, grace, ['Not changed', 'CI does not know the notifier `repository_status`.'])
    expect(putsTo(world)).toHaveLength(1)
  })
})

describe('the other parts of the form', () => {
  it('change a rule in place, and keep its key, which nobody saw', async () => {
    const world = await openProjects()
    const before = projectIn(world).notification_rules[1]!
    const view = await openPart(world, 'rule:1')
    expect(saidBy(view)).toContain('leave empty to keep it')
    for (const secret of Object.values(before.options)) expect(saidBy(view)).not.toContain(secret)
    const branch = typing({ 'rule:1:branch': 'release/*' })
    await world.slack.people.submitView({ user: grace, values: branch })
    await untilModal(world, ['This cannot be sent to CI', 'rule 2: `branch`', 'choose wildcard or regex'])
    await world.slack.people.closeView({ user: grace })
    await world.slack.people.submitView({ user: grace, values: { ...branch, ...choose('rule:1:match', 'wildcard') } })
    await untilModal(world, ['Send to CI', 'rule 2', 'release/*'])
    await submit(world)
    await untilModal(world, ['Changed'])
    expect(projectIn(world).notification_rules[1]).toEqual({
      ...before,
      branch: 'release/*',
      branch_match: 'wildcard',
    })
  })

  it('refuse a new rule without its key at the field', async () => {
    const world = await openProjects()
    await openPart(world, 'rule:new')
    const answer = await world.slack.people.submitView({
      user: 'U0GRACE001',
      values: { ...choose('rule:new:notifier', 'slack'), 'rule:new:events': EVENTS },
    })
    expect(answer).toMatchObject({ errors: { 'rule:new:key': 'slack needs a key' } })
  })

  it('write setup commands line by line', async () => {
    const world = await openProjects()
    await openPart(world, 'setup')
    await submit(world, { 'edit:setup_commands': 'npm ci\nnpm run build' })
    await untilModal(world, ['Send to CI', 'npm run build'])
    await submit(world)
    await untilModal(world, ['Changed'])
    expect(projectIn(world)).toMatchObject({ setup_commands: ['npm ci', 'npm run build'] })
  })

  it('refuse what a form cannot carry at its field, with the excess', async () => {
    const world = await openProjects()
    await openPart(world, 'setup')
    const noise = Array.from({ length: 60 }, (_, n) => createHash('sha256').update(String(n)).digest('base64')).join(
      '\n',
    )
    const answer = await submit(world, { 'edit:setup_commands': noise.slice(0, INPUT_CHARS_MAX) })
    expect(answer).toMatchObject({ errors: { 'edit:setup_commands': expect.stringContaining('too long for a form') } })
  })

  it('do not send an unchanged value', async () => {
    const world = await openProjects()
    await openPart(world, 'teams')
    await submit(world, { 'edit:team_ids': '7' })
    await untilModal(world, ['Nothing to change'])
    expect(putsTo(world)).toEqual([])
  })
})

const EVENTS = {
  value: { selected_options: [{ text: { type: 'plain_text', text: 'failed', emoji: false }, value: 'failed' }] },
}
