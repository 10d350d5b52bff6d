import type { DecisionInput } from '../../../src/domain/rules/decide.ts'
import type { ChannelRule } from '../../../src/domain/rules/rule.ts'
import type { Subscription } from '../../../src/domain/rules/subscription.ts'
import { channelId } from '../../support/build-events.ts'

/** #builds follows acme/web, by its own rules, or by the project's rules if null. */
export const subscribed = (rules: readonly ChannelRule[] | null = null): Subscription => ({
  channel: channelId('C0BUILDS01'),
  follows: { what: 'project', name: 'acme/web' },
  rules,
  quiet: false,
  mention: 'nobody',
  source: 'slack',
})

/** A build of `main` has failed, and nothing has been sent about it yet. */
export const asked = (parts: Partial<DecisionInput> = {}): DecisionInput => ({
  branch: 'main',
  status: 'failed',
  effect: 'moved',
  change: null,
  hasCard: false,
  ...parts,
})

export const on = (
  branch: string | null,
  events: ChannelRule['events'],
  branchMatch: string | null = null,
): ChannelRule => ({ branch, branchMatch, events })

export const failures: readonly ChannelRule[] = [on(null, ['failed'])]
