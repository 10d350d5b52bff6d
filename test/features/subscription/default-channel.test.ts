import { expect, test } from 'vitest'
import type { ProjectRef } from '../../../src/domain/project-names.ts'
import type { Subscription } from '../../../src/domain/subscription.ts'
import { fallsSilent } from '../../../src/features/subscriptions/subscribe.ts'
import { BUILDS, RELEASES } from '../../alerts/stage.ts'

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

const byDefault = subscription(BUILDS, { what: 'unfollowed' })

test.each([
  ['of a project that it alone was told of', [byDefault], WEB],
  ['of all of them', [byDefault], null],
  [
    'of a project, others being followed',
    [byDefault, subscription(RELEASES, { what: 'project', name: 'acme/api' })],
    WEB,
  ],
] as const)('the default channel falls silent: %s', (_, before, about) => {
  expect(fallsSilent(before, RELEASES, about)).toBe(BUILDS)
})

test.each([
  ['itself', [byDefault], BUILDS, WEB],
  [
    'one that followed it before',
    [byDefault, subscription(RELEASES, { what: 'project', name: 'acme/web' })],
    RELEASES,
    WEB,
  ],
  ['any, where there is none', [subscription(BUILDS, { what: 'all' })], RELEASES, WEB],
] as const)('the default channel hears no less by what follows: %s', (_, before, channel, about) => {
  expect(fallsSilent(before, channel, about)).toBeNull()
})
