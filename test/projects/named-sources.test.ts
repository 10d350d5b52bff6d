import { expect, test } from 'vitest'
import { namesOf } from '../../src/projects/followers.ts'
import { createSubscriptions } from '../../src/projects/named-sources.ts'
import { repositoryIn } from '../../src/domain/ci-project/project-names.ts'
import { toUuid, type SourceName } from '../../src/domain/ids.ts'
import { following, type Subscription } from '../../src/domain/rules/subscription.ts'
import { channelId, projectId, T0 } from '../support/build-events.ts'
import { createHandClock } from '../support/hand-clock.ts'
import { sqlitePlaces } from '../support/stores.ts'

const follow = (name: string, more: object = {}): Subscription => ({
  channel: channelId('C0BUILDS01'),
  follows: { what: 'project', name, ...more },
  rules: null,
  quiet: false,
  mention: 'nobody',
  source: 'file',
})

/** Subscriptions beside a store in which these sources have a project called acme/web. */
function stage(...fixed: Subscription[]) {
  const sources: SourceName[] = []
  const [warnings, asked]: [unknown[], (readonly string[])[]] = [[], []]
  const clock = createHandClock(T0)
  const read = {
    subscriptions: async () => [],
    closedChannels: async () => [],
    movedChannels: async () => new Map(),
    namesakes: async (names: readonly string[]) => {
      asked.push(names)
      return sources.map((source) => ({ name: 'Acme/Web', source, isListed: false, id: null }))
    },
    renamed: async () => [],
  }
  const subscriptions = createSubscriptions({
    fixed,
    store: { read: read as never },
    clock,
    log: { warn: (fields) => void warnings.push(fields) },
  })
  const isFollowed = async (id: string) => {
    const project = { projectId: id, projectUuid: null, names: ['acme/web'] }
    return following(await subscriptions(), project).length > 0
  }
  return { subscriptions, sources, warnings, asked, clock, isFollowed }
}

test('the sources of a name are read once for five seconds, whatever comes in', async () => {
  const { subscriptions, asked, clock } = stage(follow('acme/web'), follow('acme/api', { sources: ['github'] }))
  for (const _ of Array(50)) await subscriptions()
  expect(asked).toEqual([['acme/web', 'acme/api']])
  await clock.advance(5_000)
  await subscriptions()
  expect(asked).toHaveLength(2)
})

test('CI is left out once another source has the name, and the log says so once', async () => {
  const { sources, warnings, clock, isFollowed, subscriptions } = stage(follow('acme/web'))
  expect([await isFollowed('41'), await isFollowed('gitlab:71')]).toEqual([true, true])
  sources.push('gitlab', 'ci')
  await clock.advance(5_000)
  expect([await isFollowed('41'), await isFollowed('gitlab:71')]).toEqual([false, true])
  await clock.advance(5_000)
  await subscriptions()
  expect(warnings).toEqual([{ project: 'acme/web', known: ['ci', 'gitlab'], meant: ['github', 'gitlab'] }])
})

test('a subscription with an id needs no reading', async () => {
  const { asked, isFollowed } = stage(follow('acme/web', { projectId: '41' }))
  expect(await isFollowed('41')).toBe(true)
  expect(asked.flat()).toEqual([])
})

test('a workflow is followed by its old name and its old repository, also until the others of it are renamed', async () => {
  await using places = await sqlitePlaces()
  await using place = await places.open()
  const [{ store }, clock] = [place, createHandClock(T0)]
  const all = createSubscriptions({
    fixed: [follow('acme/web'), { ...follow('acme/web CI'), channel: channelId('C0BUILDS02') }],
    store,
    clock,
    log: { warn: () => undefined },
  })
  const show = (id: string, name: string) =>
    store.write(async (tx) => {
      const fullName = repositoryIn(name)
      await tx.saveDeliveredProject({ projectId: projectId(id), name, fullName, projectUuid: null, at: T0 })
      const uuid = toUuid(`uuid-of-${id}`)
      await tx.saveProject({ uuid, legacyId: id, name, type: 'github', rules: null, readAt: clock.now() })
    })
  const followers = async (id: string) => {
    const [stored] = await store.read.deliveredAs([id], 9)
    return following(await all(), namesOf(stored!)).length
  }
  await show('github:81:1', 'acme/web CI')
  await show('github:81:2', 'acme/web Deploy')
  expect(await followers('github:81:1')).toBe(2)

  await show('github:81:1', 'acme/site CI')
  expect(await followers('github:81:1')).toBe(2)
  await clock.advance(5_000)
  expect(await followers('github:81:1')).toBe(2)
  expect(await followers('github:81:2')).toBe(1)
  await show('github:81:2', 'acme/site Deploy')
  await clock.advance(5_000)
  expect([await followers('github:81:1'), await followers('github:81:2')]).toEqual([2, 1])

  await show('github:99:1', 'acme/web CI')
  await clock.advance(5_000)
  expect([await followers('github:81:1'), await followers('github:99:1')]).toEqual([0, 2])
})
