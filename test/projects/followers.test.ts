import { expect, test } from 'vitest'
import type { ProjectRef } from '../../src/domain/ci-project/project-names.ts'
import type { Subscription } from '../../src/domain/rules/subscription.ts'
import { fallsSilent } from '../../src/features/subscriptions/subscribe.ts'
import { BUILDS, RELEASES } from '../alerts/stage.ts'
import { channelId } from '../support/build-events.ts'

const project: ProjectRef = { projectId: '41', uuid: null, name: 'acme/web', type: 'basic' }
const WEB = { project, names: { projectId: '41', projectUuid: null, names: ['acme/web'] } }

const subscription = (channel: Subscription['channel'], follows: Subscription['follows']): Subscription => ({
  channel,
  follows,
  rules: null,
  quiet: false,
  mention: 'committer',
  source: follows.what === 'unfollowed' ? 'default-channel' : 'slack',
})

/** No branch is known. */
const NO_BUILDS = { newestBuild: async () => null, branchesOf: async () => [] }

const silentAfter = (before: readonly Subscription[], channel: Subscription['channel'], about: typeof WEB | null) =>
  fallsSilent(NO_BUILDS, {
    before,
    about,
    saved: subscription(channel, about ? { what: 'project', name: about.project.name } : { what: 'all' }),
  })

const WEB_CHANNEL = channelId('C0WEB00001')

const byDefault = subscription(BUILDS, { what: 'unfollowed' })

test.each([
  ['of a project that only it follows', [byDefault], WEB],
  ['of all projects', [byDefault], null],
  [
    'of one project while another is followed',
    [byDefault, subscription(RELEASES, { what: 'project', name: 'acme/api' })],
    WEB,
  ],
] as const)('the default channel gets no more news %s', async (_, before, about) => {
  expect(await silentAfter(before, RELEASES, about)).toBe(BUILDS)
})

test.each([
  ['itself', [byDefault], BUILDS, WEB],
  [
    'a channel that followed the project before',
    [byDefault, subscription(RELEASES, { what: 'project', name: 'acme/web' })],
    RELEASES,
    WEB,
  ],
  ['a channel that followed all projects before', [byDefault, subscription(RELEASES, { what: 'all' })], RELEASES, null],
  [
    'another channel than one that follows all projects',
    [byDefault, subscription(WEB_CHANNEL, { what: 'all' })],
    RELEASES,
    null,
  ],
  ['a channel, if there is no default channel', [subscription(BUILDS, { what: 'all' })], RELEASES, WEB],
] as const)(
  'the default channel gets the same news after a new subscription of %s',
  async (_, before, channel, about) => {
    expect(await silentAfter(before, channel, about)).toBeNull()
  },
)
