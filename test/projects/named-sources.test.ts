import { expect, test } from 'vitest'
import { createSubscriptions } from '../../src/projects/named-sources.ts'
import type { SourceName } from '../../src/domain/ids.ts'
import { following, type Subscription } from '../../src/domain/rules/subscription.ts'
import { channelId, T0 } from '../support/build-events.ts'
import { createHandClock } from '../support/hand-clock.ts'

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
      return sources.map((source) => ({ name: 'Acme/Web', source, isListed: false }))
    },
    renamed: async () => [],
  }
  const subscriptions = createSubscriptions({
    fixed,
    store: { read: read as never },
    clock,
    log: { warn: (fields) => void warnings.push(fields) },
  })
  const isFollowed = async (projectId: string) => {
    const project = { projectId, projectUuid: null, names: ['acme/web'] }
    return following(await subscriptions.all(), project).length > 0
  }
  return { subscriptions, sources, warnings, asked, clock, isFollowed }
}

test('the sources of a name are read once for five seconds, whatever comes in', async () => {
  const { subscriptions, asked, clock } = stage(follow('acme/web'), follow('acme/api', { sources: ['github'] }))
  for (const _ of Array(50)) await subscriptions.all()
  expect(asked).toEqual([['acme/web', 'acme/api']])
  await clock.advance(5_000)
  await subscriptions.all()
  expect(asked).toHaveLength(2)
})

test('CI is left out once another source has the name, and the log says so once', async () => {
  const { sources, warnings, clock, isFollowed, subscriptions } = stage(follow('acme/web'))
  expect([await isFollowed('41'), await isFollowed('gitlab:71')]).toEqual([true, true])
  sources.push('gitlab', 'ci')
  await clock.advance(5_000)
  expect([await isFollowed('41'), await isFollowed('gitlab:71')]).toEqual([false, true])
  await clock.advance(5_000)
  await subscriptions.all()
  expect(warnings).toEqual([{ project: 'acme/web', known: ['ci', 'gitlab'], meant: ['github', 'gitlab'] }])
})

test('a subscription with an id needs no reading', async () => {
  const { asked, isFollowed, subscriptions } = stage(follow('acme/web', { projectId: '41' }))
  expect(await isFollowed('41')).toBe(true)
  expect(await subscriptions.namesWithoutSource()).toEqual([])
  expect(asked.flat()).toEqual([])
})
