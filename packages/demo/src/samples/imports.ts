import { CHANGES } from '../../../../src/domain/rules/rule.ts'
import type {
  Imported,
  ImportedOutcome,
  Proposal,
  ProposalOutcome,
  ProposedRepository,
} from '../../../../src/features/subscriptions/import.ts'
import { BUILD_AT, CHANNEL, projectOf, type Cast } from './cast.ts'
import { noProject } from './not-found.ts'
import { ofFile, shownOf } from './shown.ts'
import { cannotPost, forbidden, TOLD } from './subscriptions.ts'
import type { Cases, Of } from './words.ts'
import { askedWith, samplesOfKinds, type Sample } from './sample.ts'
import { answerImported, answerProposal } from '../../../../src/features/subscriptions/import-messages.ts'

export function importSamples(cast: Cast): Sample[] {
  const context = askedWith('import', cast)
  return [
    ...samplesOfKinds<ProposalOutcome>('import', proposals(cast), (outcome) => answerProposal(outcome, context)),
    ...samplesOfKinds<ImportedOutcome>(
      'import',
      imports(cast),
      (outcome) => answerImported(outcome, context),
      'button',
    ),
  ]
}

/** What a pasted list of GitHub's Slack app is answered with. */
export const proposals = (cast: Cast): Cases<ProposalOutcome> => ({
  proposed: [
    { when: 'the list has a repository that is known', outcome: proposed(cast) },
    { when: 'much is to be said of it', outcome: everything(cast) },
    {
      when: 'the channel has all of it already',
      outcome: proposed(cast, { proposals: [proposal(cast, { end: { kind: 'same', shown: shownOf(cast) } })] }),
    },
    {
      when: 'no repository of it is known',
      outcome: proposed(cast, { proposals: [], repositories: [repository(cast, { isKnown: false })] }),
    },
  ],
  'nothing-listed': [{ when: 'there is no repository in the text', outcome: { kind: 'nothing-listed' } }],
  'too-long': [{ when: 'the text is longer than is read', outcome: { kind: 'too-long', max: 3_000 } }],
  'no-channel': [{ when: 'it was asked in a direct message', outcome: { kind: 'no-channel' } }],
  'cannot-post': cannotPost,
  ...forbidden(cast),
})

/** What its button is answered with. */
export const imports = (cast: Cast): Cases<ImportedOutcome> => ({
  imported: [
    { when: 'the channel is subscribed to them', outcome: imported(cast, [kept(cast), kept(cast)]) },
    {
      when: 'some of them could not be',
      outcome: imported(cast, [kept(cast), ...unmade(cast)], { silent: CHANNEL }),
    },
    { when: 'it was pressed before', outcome: imported(cast, [{ kind: 'same', shown: shownOf(cast) }]) },
  ],
  'no-channel': [{ when: 'the button was in a direct message', outcome: { kind: 'no-channel' } }],
  'cannot-post': cannotPost,
  ...forbidden(cast),
})

const proposed = (cast: Cast, change: Partial<Of<ProposalOutcome, 'proposed'>> = {}) => ({
  kind: 'proposed' as const,
  proposals: [proposal(cast)],
  repositories: [repository(cast)],
  accounts: [],
  more: 0,
  moreProposals: 0,
  ...change,
})

const proposal = (cast: Cast, change: Partial<Proposal> = {}): Proposal => ({
  name: cast.project,
  project: projectOf(cast.project).uuid!,
  branch: cast.branch || null,
  end: { kind: 'would-subscribe', subscription: wantedOf(cast), was: null },
  ...change,
})

const wantedOf = (cast: Cast) =>
  shownOf(cast, { rules: [{ branch: cast.branch, branchMatch: 'exact', events: CHANGES }] }).subscription

const repository = (cast: Cast, change: Partial<ProposedRepository> = {}): ProposedRepository => ({
  listed: {
    name: cast.project,
    features: ['issues', 'pulls'],
    workflows: [{ names: [], events: ['push'], branches: [cast.branch], actors: [] }],
  },
  isKnown: true,
  unknownWorkflows: [],
  wishes: [],
  ...change,
})

function everything(cast: Cast): Of<ProposalOutcome, 'proposed'> {
  const listed = (features: readonly string[]) => ({ name: cast.other, features, workflows: [] })
  const onPullRequests = [{ names: [], events: ['pull_request', 'push'], branches: [cast.branch], actors: ['ada'] }]
  return proposed(cast, {
    proposals: [
      ...Array.from({ length: 21 }, () => proposal(cast)),
      proposal(cast, { end: { kind: 'would-subscribe', subscription: wantedOf(cast), was: shownOf(cast) } }),
      ...Array.from({ length: 11 }, () => proposal(cast, { end: { kind: 'same', shown: shownOf(cast) } })),
      proposal(cast, { end: { kind: 'set-elsewhere', shown: ofFile(cast) } }),
      proposal(cast, { end: { kind: 'faults', faults: [{ field: 'branch', reason: 'can match nothing' }] } }),
    ],
    repositories: [
      repository(cast, { listed: { name: cast.project, features: [cast.word], workflows: onPullRequests } }),
      repository(cast, { listed: listed([]), unknownWorkflows: [cast.typed] }),
      repository(cast, { listed: listed(Array.from({ length: 12 }, (_, n) => `feature${n}`)) }),
      ...Array.from({ length: 12 }, () => repository(cast, { isKnown: false })),
    ],
    accounts: [cast.committer],
    more: 3,
    moreProposals: 2,
  })
}

const kept = (cast: Cast): Of<Imported, 'saved'> => {
  const { subscription } = shownOf(cast)
  const made = { id: '7', createdBy: cast.user, createdAt: BUILD_AT, changedBy: null, changedAt: null }
  return {
    kind: 'saved',
    saved: { ...subscription, ...made, source: 'slack' },
    was: null,
    over: null,
    silent: null,
    unmatched: null,
  }
}

const unmade = (cast: Cast): Imported[] => [
  { kind: 'same', shown: shownOf(cast) },
  { kind: 'set-elsewhere', shown: ofFile(cast) },
  { kind: 'too-many', max: 50 },
  noProject(cast)['no-project'][0].outcome,
  { kind: 'faults', faults: [] },
]

function imported(cast: Cast, ends: readonly Imported[], change: Partial<Of<ImportedOutcome, 'imported'>> = {}) {
  const subscribed = ends.filter(({ kind }) => kind === 'saved').map(() => shownOf(cast))
  const announced = subscribed.length > 0 ? TOLD : null
  return { kind: 'imported' as const, subscribed, ends, announced, silent: null, ...change }
}
