import { projectOf, type Cast } from './cast.ts'
import { notFound } from './not-found.ts'
import { ciTrouble, type Cases, type Of } from './words.ts'
import type { BadgeOutcome } from '../../../../src/features/badge/badge.ts'
import { asked, samplesOfKinds } from './sample.ts'
import { answerBadge } from '../../../../src/features/badge/messages.ts'

export const badgeSamples = (cast: Cast) =>
  samplesOfKinds<BadgeOutcome>('badge', badges(cast), (outcome) => answerBadge(outcome, asked('badge', cast)))

export const badges = (cast: Cast): Cases<BadgeOutcome> => ({
  badge: [
    { when: 'the badge tells the state', outcome: badge(cast) },
    { when: 'no branch is named', outcome: { ...badge(cast), branch: null, picture: null } },
    {
      when: 'CI does not know the project',
      outcome: { ...badge(cast), found: 'no-project', words: 'project not found' },
    },
    { when: 'CI does not know the branch', outcome: { ...badge(cast), found: 'no-branch', words: 'branch not found' } },
    { when: 'the badge says nothing', outcome: { ...badge(cast), found: 'unknown', words: null } },
    ...ciTrouble(cast).map(({ when, outcome }) => ({
      when,
      outcome: { ...badge(cast), found: 'unknown', words: null, picture: null, failure: outcome } as const,
    })),
  ],
  'no-site': [{ when: 'the site is not configured', outcome: { kind: 'no-site' } }],
  'no-uuid': [
    {
      when: "the project's uuid is not known",
      outcome: { kind: 'no-uuid', project: projectOf(cast.project, { uuid: null }) },
    },
  ],
  ...notFound(cast),
})

function badge(cast: Cast): Of<BadgeOutcome, 'badge'> {
  const url = 'https://ci.example/projects/0a1b2c3d-0000-4000-8000-0123456789ab/status?branch=main'
  return {
    kind: 'badge',
    project: projectOf(cast.project),
    branch: cast.branch,
    words: cast.badge,
    found: 'yes',
    markdown: `![${cast.project} ${cast.branch} build status](<${url}>)`,
    picture: PICTURE,
    failure: null,
  }
}

const PICTURE = new Uint8Array([0x89, 0x50, 0x4e, 0x47])
