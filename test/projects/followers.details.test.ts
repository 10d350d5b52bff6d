import { expect, test } from 'vitest'
import type { Subscription } from '../../src/domain/rules/subscription.ts'
import { detailsShown } from '../../src/projects/followers.ts'
import { channelId, projectId } from '../support/build-events.ts'

const [PUBLIC, SECRET, OTHER] = ['C0PUBLIC01', 'C0SECRET01', 'C0OTHER001'].map(channelId)
const WEB = projectId('11')

/** @param branches those that the channel follows */
const follows = (channel: typeof PUBLIC, branches: string, details: 'none' | 'lines') =>
  ({
    channel: channel!,
    follows: { what: 'project', name: 'acme/web', uuid: null, projectId: WEB },
    rules: [{ branch: branches, branchMatch: 'wildcard', events: ['failed'] }],
    quiet: false,
    mention: 'nobody',
    source: 'file',
    details,
  }) as Subscription

test('a channel that leaves a branch out shows no more of it than any other place', async () => {
  const reads = {
    deliveredAs: async () => [{ projectId: WEB, projectUuid: null, name: 'acme/web', fullName: 'acme/web', at: 1 }],
    branchesOf: async () => ['main', 'security/x'],
    newestBuild: async () => null,
  }
  const all = [follows(PUBLIC, 'main', 'lines'), follows(SECRET, 'security/*', 'none')]
  const shown = (channel: typeof PUBLIC, branch: string) => detailsShown(reads, all, WEB, { channel: channel!, branch })
  expect(await shown(PUBLIC, 'main')).toBe('lines')
  for (const channel of [PUBLIC, SECRET, OTHER]) expect(await shown(channel, 'security/x')).toBe('none')
})
