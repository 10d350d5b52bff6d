import type { ChannelId } from '../../domain/ids.ts'
import type { Refused } from '../../catalog/outcomes.ts'
import type { ShownSubscription } from '../../catalog/subscriptions.ts'
import type { Import } from '../values.ts'
import type { ListedRepository } from './github-list.ts'
import type { Announced, Foreseen, SubscribeOutcome } from './outcomes.ts'
import type { Kept } from './subscribe.ts'

// The outcomes of importing the subscriptions of GitHub's Slack app.

/** Why one of several subscriptions is not made, for example because it exists already. */
type Unmade = Exclude<SubscribeOutcome, { kind: 'subscribed' }>

export interface ProposedRepository {
  listed: ListedRepository
  isKnown: boolean
  /** workflows that its filters name, and that Buildline does not know */
  unknownWorkflows: readonly string[]
  wishes: readonly (Import['these'][number] & { name: string })[]
}

export interface Proposal {
  name: string
  project: string
  branch: string | null
  end: Foreseen | Exclude<Unmade, { kind: 'too-many' }>
}

export type ProposalOutcome =
  | {
      kind: 'proposed'
      channel: ChannelId
      proposals: readonly Proposal[]
      repositories: readonly ProposedRepository[]
      /** names that stand for all repositories of a person or an organization */
      accounts: readonly string[]
      /** further repositories, and further proposals */
      more: number
      moreProposals: number
    }
  | { kind: 'nothing-listed' }
  | { kind: 'too-long'; max: number }
  | { kind: 'no-channel' }
  | Refused

/** The outcome for one of the proposed subscriptions. */
export interface Imported {
  project: string
  end: Kept | Unmade
}

export type ImportedOutcome =
  | {
      kind: 'imported'
      subscribed: readonly ShownSubscription[]
      ends: readonly Imported[]
      /** null: nothing changed */
      announced: Announced | null
      /** the default channel, if it gets nothing about some of these any more */
      silent: ChannelId | null
    }
  | { kind: 'no-channel' }
  | { kind: 'not-in-channel'; channel: ChannelId }
  | Refused
