import { describe, expect, test } from 'vitest'
import { recordDelivery } from '../../../src/alerts/record/record.ts'
import type { Subscription } from '../../../src/domain/rules/subscription.ts'
import { answerProposal, PROPOSED_MAX } from '../../../src/features/subscriptions/import-messages.ts'
import { subscribe, SUBSCRIPTIONS_MAX } from '../../../src/features/subscriptions/subscribe.ts'
import { parseImport } from '../../../src/features/kit/values.ts'
import { COMMAND_CHARS_MAX } from '../../../src/slack/commands/parse.ts'
import { readRun } from '../../../src/sources/github/run.ts'
import { buttonsOf, valueOf } from '../../golden/answers-stage.ts'
import { BUILDS, grace, lin, openStage, type Stage } from '../operations-stage.ts'
import { importThese, proposeImport } from '../../../src/features/subscriptions/import.ts'

/** GitHub has delivered a run of each of these workflows of acme/site. */
async function openWithWorkflows(...names: readonly string[]): Promise<Stage> {
  const stage = await openStage()
  const { store, clock } = stage.reconcile
  for (const [at, name] of names.entries()) {
    const run = { id: 9_000_000_001 + at, workflow_id: 77 + at, status: 'completed', conclusion: 'success' }
    const seen = readRun({ ...run, event: 'push', head_branch: 'main' }, { id: 1, full_name: 'acme/site' }, { name })!
    await recordDelivery({ store, clock }, { ...seen, body: '{}' })
    await clock.advance(5_000)
  }
  return stage
}

const kept = ({ reconcile }: Stage) => reconcile.store.read.subscriptionsOf(BUILDS)
const propose = (stage: Stage, text: string) => proposeImport(stage.main.deps, text, lin())

/** The text of the proposal and the value of its button; null if it has none. */
async function proposed(stage: Stage, text: string) {
  const answer = answerProposal(await propose(stage, text), CONTEXT)
  const [button] = buttonsOf(answer)
  return { text: answer.text, these: button ? parseImport(valueOf(button)) : null }
}

const CONTEXT = { command: 'import', branch: null, reference: 'ref' }

/** Confirms the proposal. */
async function imported(stage: Stage, text: string, by = lin()) {
  const { these } = await proposed(stage, text)
  return importThese(stage.main.deps, these!, by)
}

const branchesOf = async (stage: Stage) =>
  (await kept(stage)).map(({ follows, rules }) => [
    follows.what === 'project' ? follows.name : follows.what,
    rules?.[0]?.branch,
    rules?.[0]?.branchMatch,
    rules?.[0]?.events,
  ])

const CHANGES = ['broken', 'recovered']

describe('a proposal', () => {
  test('has a repository as a whole on each branch of the list, and subscribes nothing yet', async () => {
    await using stage = await openWithWorkflows('CI', 'Deploy')
    const { text, these } = await proposed(stage, 'ACME/Site - issues, workflows:{event:"push" branch:"main","f/*"}')
    expect(text).toContain('*2 subscriptions* to import')
    expect(text).toContain('• *acme/site (all workflows)*: changes on `main`')
    expect(text).toContain('• *acme/site (all workflows)*: changes on branches like `f/*`')
    expect(these).toMatchObject([{ branch: 'main' }, { branch: 'f/*' }])
    expect(await kept(stage)).toEqual([])
    expect(stage.said).toEqual([])
  })

  test('has workflows that a filter names, and says which of them are unknown', async () => {
    await using stage = await openWithWorkflows('CI', 'Deploy')
    const { text, these } = await proposed(stage, 'acme/site workflows:{name:"DEPLOY","Nightly" branch:"main"}')
    expect(these).toHaveLength(1)
    expect(text).toContain('acme/site Nightly: no such workflow has run yet')
    expect(text).not.toContain('acme/site CI')
  })

  test.each(['acme/site', 'acme/site workflows', 'acme/site workflows:{event:"pull_request" branch:"main"}'])(
    'has every branch if the list names none that is built: %s',
    async (list) => {
      await using stage = await openWithWorkflows('CI')
      expect((await proposed(stage, list)).these).toMatchObject([{ branch: null }])
    },
  )

  test.each<[list: string, branches: readonly (string | null)[]]>([
    ['acme/web workflows:{branch:"main"}\nacme/web workflows:{branch:"main","dev"}', ['main', 'dev']],
    ['acme/web workflows:{branch:"main"}\nacme/web workflows', [null]],
  ])('has each branch once, and none beside every branch: %j', async (list, branches) => {
    await using stage = await openStage()
    expect((await proposed(stage, list)).these?.map(({ branch }) => branch)).toEqual(branches)
  })

  test("has the project whose name equals the repository's", async () => {
    await using stage = await openStage()
    expect((await proposed(stage, 'acme/web')).text).toContain('• *acme/web*: changes on every branch')
  })

  test('lists each difference once', async () => {
    await using stage = await openWithWorkflows('CI')
    const { text, these } = await proposed(
      stage,
      'acme/site issues, pulls, workflows:{event:"push","pull_request" branch:"main"}\nacme/web pulls\nacme/shop\nacme',
    )
    expect(these).toMatchObject([{ branch: 'main' }, { branch: null }])
    expect(text.match(/`pulls`/g)).toHaveLength(1)
    expect(text).toContain('Left out, because Buildline posts builds and nothing else: `issues`, `pulls`')
    expect(text).toContain('acme/site: filters by `event` and `actor` are left out')
    expect(text).toContain("acme/site: for pull requests GitHub's app means the branch that they go to")
    expect(text).toContain("acme/web: GitHub's app posts no runs of it here")
    expect(text).toMatch(/acme\/shop: not known here.*`GITHUB_REPOSITORIES`/)
    expect(text).toContain('acme: whole accounts are not imported')
  })

  test('has no button if no repository is known', async () => {
    await using stage = await openStage()
    const { text, these } = await proposed(stage, 'acme/shop')
    expect(these).toBeNull()
    expect(text).toContain('`GITHUB_REPOSITORIES`')
  })

  test('shows what it would replace, and what is already subscribed', async () => {
    await using stage = await openWithWorkflows('CI', 'Deploy')
    const { deps } = stage.main
    const wish = { branch: null, branchMatch: null, quiet: false, mention: 'committer' } as const
    await subscribe(deps, { ...wish, project: 'acme/site CI', events: ['failed'] }, lin())
    await subscribe(deps, { ...wish, project: 'acme/site Deploy', events: CHANGES }, lin())
    const { text, these } = await proposed(stage, 'acme/site workflows:{name:"CI","Deploy"}')
    expect(text).toContain('• *acme/site CI*: changes on every branch, in place of: failed on every branch')
    expect(text).toContain('• *acme/site Deploy*: changes on every branch (already subscribed)')
    expect(these).toHaveLength(1)
  })

  test('leaves out what the file sets, and branches that Git does not allow', async () => {
    await using stage = await openWithWorkflows('CI')
    const file: Subscription = {
      channel: BUILDS,
      follows: { what: 'project', name: 'acme/site' },
      rules: [{ branch: 'main', branchMatch: null, events: ['failed'] }],
      quiet: false,
      mention: 'committer',
      source: 'file',
    }
    stage.reconcile.subscriptions.push(file)
    const { text, these } = await proposed(stage, 'acme/site workflows:{branch:"main","a..b"}')
    expect(text).toContain('on `main` (left out: the subscriptions file says what this channel gets)')
    expect(text).toContain('on `a..b` (left out: no branch can have this name)')
    expect(these).toBeNull()
  })

  test(`has at most ${PROPOSED_MAX} items for one button; the rest comes when the list is sent again`, async () => {
    await using stage = await openStage()
    const listOf = (count: number) =>
      `acme/web workflows:{branch:${Array.from({ length: count }, (_, n) => `"v${n}"`).join()}}`
    expect((await proposed(stage, listOf(PROPOSED_MAX))).text).not.toContain('… and')
    const more = listOf(PROPOSED_MAX + 1)
    expect((await proposed(stage, more)).text).toContain('… and 1 more')
    await imported(stage, more)
    expect((await proposed(stage, more)).these).toEqual([{ project: expect.any(String), branch: 'v20' }])
    expect((await proposed(stage, listOf(SUBSCRIPTIONS_MAX + 1))).text).toContain('… and 11 more')
  })

  test("has no more than fits into a button's value", async () => {
    await using stage = await openStage()
    const branches = [...['a', 'b', 'c'].map((name) => name.repeat(800)), 'main']
    const { text, these } = await proposed(
      stage,
      `acme/web workflows:{branch:${branches.map((one) => `"${one}"`).join()}}`,
    )
    expect(these?.map(({ branch }) => branch?.charAt(0))).toEqual(['a', 'b', 'm'])
    expect(text).toContain('… and 1 more')
  })

  test('is empty for a text without repositories, or one that was not read completely', async () => {
    await using stage = await openStage()
    expect(await propose(stage, 'our repositories')).toEqual({ kind: 'nothing-listed' })
    const text = (chars: number) => 'acme/web'.padEnd(chars)
    expect(await propose(stage, text(COMMAND_CHARS_MAX))).toMatchObject({ kind: 'proposed' })
    expect(await propose(stage, text(COMMAND_CHARS_MAX + 1))).toEqual({ kind: 'too-long', max: COMMAND_CHARS_MAX })
  })
})

describe('a confirmed import', () => {
  test('is stored like typed subscriptions, and the channel gets one line', async () => {
    await using stage = await openWithWorkflows('CI', 'Deploy')
    expect(await imported(stage, 'acme/site workflows:{branch:"main"}')).toMatchObject({
      kind: 'imported',
      subscribed: [{}],
      announced: { kind: 'told' },
    })
    expect(await branchesOf(stage)).toEqual([['acme/site', 'main', 'exact', CHANGES]])
    expect(await kept(stage)).toMatchObject([{ createdBy: lin().user }])
    expect(stage.said).toEqual([
      {
        to: BUILDS,
        text: `:bell: <@${lin().user}> subscribed this channel to acme/site (all workflows): changes on \`main\`.`,
      },
    ])
  })

  test('that is confirmed twice changes nothing, and posts nothing', async () => {
    await using stage = await openWithWorkflows('CI')
    const { these } = await proposed(stage, 'acme/site')
    const { deps } = stage.main
    await importThese(deps, these!, lin())
    const before = await kept(stage)
    expect(await importThese(deps, these!, grace())).toMatchObject({ subscribed: [], ends: [{ kind: 'same' }] })
    expect(await kept(stage)).toEqual(before)
    expect(stage.said).toHaveLength(1)
  })

  test('is refused for people who may not subscribe, and in direct messages', async () => {
    await using stage = await openWithWorkflows('CI')
    const { these } = await proposed(stage, 'acme/site')
    const { deps } = stage.another({ permits: async () => ({ kind: 'no', why: 'guest', who: [] }) })
    expect(await proposeImport(deps, 'acme/site', lin())).toMatchObject({ kind: 'forbidden' })
    expect(await importThese(deps, these!, lin())).toMatchObject({ kind: 'forbidden' })
    const direct = { ...lin(), channel: 'D0LIN' as typeof BUILDS }
    expect(await proposeImport(stage.main.deps, 'acme/site', direct)).toEqual({ kind: 'no-channel' })
    expect(await kept(stage)).toEqual([])
  })

  test('is stored as far as the channel has room, and the rest is listed', async () => {
    await using stage = await openWithWorkflows('CI')
    const { deps } = stage.main
    const wish = { events: ['failed'], branchMatch: 'exact', quiet: false, mention: 'committer' } as const
    for (let n = 1; n < SUBSCRIPTIONS_MAX; n += 1)
      await subscribe(deps, { ...wish, project: 'acme/web', branch: `v${n}` }, lin())
    const { these } = await proposed(stage, 'acme/site workflows:{branch:"main","dev"}')
    expect(await importThese(deps, these!, lin())).toMatchObject({
      subscribed: [{}],
      ends: [{ kind: 'saved' }, { kind: 'too-many', max: SUBSCRIPTIONS_MAX }],
    })
  })
})
