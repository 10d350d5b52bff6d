import { buildOf, projectOf, RED_AT, REFERENCE, type Cast } from './cast.ts'
import { ciTrouble, type Cases, type Of } from './words.ts'
import type { ListOutcome } from '../../../../src/features/list/list.ts'
import { samplesOfKinds } from './sample.ts'
import { answerList } from '../../../../src/features/list/messages.ts'

export const listSamples = (cast: Cast) =>
  samplesOfKinds<ListOutcome>('list', lists(cast), (outcome) => answerList(outcome, { reference: REFERENCE }))

export const lists = (cast: Cast): Cases<ListOutcome> => ({
  projects: [
    { when: 'there are projects', outcome: projects(cast) },
    {
      when: 'there are more pages',
      outcome: {
        ...projects(cast),
        query: { text: cast.typed, type: 'basic', page: 2 },
        page: 2,
        pages: 3,
        total: 24,
      },
    },
    { when: 'CI gave its list only in part', outcome: { ...projects(cast), isWhole: false } },
    { when: 'only the legacy interface is configured', outcome: { ...projects(cast), from: 'legacy' } },
    ...ciTrouble(cast, ', but an older list is known').map(({ when, outcome }) => ({
      when,
      outcome: { ...projects(cast), stale: { readAt: RED_AT, failure: outcome } },
    })),
    { when: 'CI has no project', outcome: { ...projects(cast), projects: [], total: 0 } },
    {
      when: 'no project is called so',
      outcome: { ...projects(cast), query: { text: cast.typed, type: 'pro', page: 1 }, projects: [], total: 0 },
    },
  ],
  'no-ci': [{ when: 'CI is not configured', outcome: { kind: 'no-ci' } }],
  'ci-trouble': ciTrouble(cast),
})

const projects = (cast: Cast): Of<ListOutcome, 'projects'> => ({
  kind: 'projects',
  query: { text: null, type: null, page: 1 },
  projects: [
    { project: projectOf(cast.project), build: buildOf(cast), red: 1 },
    {
      project: projectOf(cast.other, { type: 'pro' }),
      build: buildOf(cast, 'passed', { project: cast.other }),
      red: 0,
    },
    { project: projectOf(cast.typed, { type: 'unknown' }), build: null, red: 0 },
    { project: projectOf('acme/api'), build: buildOf(cast), red: 4 },
    { project: projectOf('acme/docs'), build: buildOf(cast, 'ignored', { project: 'acme/docs' }), red: 0 },
  ],
  page: 1,
  pages: 1,
  total: 5,
  from: 'v2',
  stale: null,
  isWhole: true,
})
