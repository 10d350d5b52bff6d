import type { BuildSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import type { Message } from '../../../sandbox-slack/src/messages.ts'
import { PEOPLE } from '../../../sandbox-slack/src/workspace.ts'
import type { Seen } from '../../src/demo/deeds.ts'

const FIXED_TS = '1.000001'
const STOPPED_TS = '2.000001'
const RED_TS = '3.000001'
const OWNED_TS = '4.000001'

/** A failed build that Lin has restarted, one that Grace has stopped, and three questions of Ada: as it should end. */
export const wellPlayed = (): Seen => ({
  asked: [
    { action: 'Restart', build: '501' },
    { action: 'Stop', build: 'b-502' },
  ],
  builds: [
    build({ id: '501', commitId: 'a1', status: 'success', runs: [run('error'), run('success')] }),
    build({ id: '502', commitId: 'b2', status: 'stopped', runs: [run('stopped')] }),
  ],
  approves: 'Run…',
  projects: ['acme/web', 'acme/api'],
  report: { tests: 9, failed: 1, failures: [{ name: 'CartTest › sums', message: 'expected 1' }] },
  messages: [
    message({ ts: FIXED_TS, text: ':game_die: *Passed on attempt 2 (flaky)* acme/web #501 on `main`' }),
    message({ threadTs: FIXED_TS, text: '*1 of 9 tests failed*\n• CartTest › sums (new): expected 1' }),
    message({ threadTs: FIXED_TS, text: `:x: *Failed* after 3 s · <@${PEOPLE.ada}>` }),
    message({ threadTs: FIXED_TS, text: `:repeat: Restart requested by <@${PEOPLE.lin}> · attempt 2` }),
    message({ threadTs: FIXED_TS, text: ':game_die: *Passed on attempt 2 (flaky)* after 3 s' }),
    message({ ts: RED_TS, attachments: [{ text: '1 of 9 tests failed: CartTest › sums (new)' }] }),
    message({
      threadTs: '5.000001',
      text: `:arrow_forward: Run (deploy: us) requested by <@${PEOPLE.grace}> · started`,
    }),
    message({ threadTs: OWNED_TS, text: `:raising_hand: <@${PEOPLE.ada}> is on it until 15:00` }),
    message({ threadTs: OWNED_TS, text: `:raising_hand: <@${PEOPLE.grace}> is on it until 16:00` }),
    message({
      threadTs: OWNED_TS,
      text: `:raising_hand: <@${PEOPLE.grace}> handed it to <@${PEOPLE.lin}> until 16:00`,
    }),
    message({
      ts: STOPPED_TS,
      text: ':black_square_for_stop: *Stopped* acme/web #502 on `main`',
      attachments: [{ blocks: [{ text: `started 14:02, Stop requested by <@${PEOPLE.grace}>` }] }],
    }),
    message({ threadTs: STOPPED_TS, text: `:raised_hand: Stop requested by <@${PEOPLE.grace}> · Stopped` }),
    message({ threadTs: STOPPED_TS, text: ':black_square_for_stop: *Stopped* after 3 s' }),
  ],
  answers: [
    ':card_index_dividers: *2 projects*\n• acme/web · Basic\n• acme/api · Basic',
    ':game_die: *Passed (flaky)* acme/web #501\n:black_square_for_stop: *Stopped* acme/web #502',
    ':bar_chart: *acme builds, 27 April – 3 May*: no builds\nA preview up to now, visible only to you; a digest also has a chart.',
  ],
  owners: [null, PEOPLE.ada, null, PEOPLE.grace, PEOPLE.lin],
  toldDirectly: [':white_check_mark: *Already fixed* by acme/api #504 on `checkout`; nothing was changed.'],
})

export const run = (status: string) => ({
  status,
  startedAt: '2026-05-04T14:02:00Z',
  finishedAt: '2026-05-04T14:09:00Z',
})

export const build = (change: Partial<BuildSnapshot>): BuildSnapshot => ({
  id: '501',
  uuid: `b-${change.id}`,
  project: 'acme/web',
  branch: 'main',
  commitId: 'a1',
  message: 'Fix login',
  committer: 'Ada',
  status: 'success',
  runMs: 4_000,
  runs: [],
  ...change,
})

export const message = (change: Partial<Message>): Message => ({
  ts: '9.000009',
  isBroadcast: false,
  userId: 'U0BUILDBOT',
  byBot: true,
  text: '',
  blocks: [],
  attachments: [],
  files: [],
  postedAtMs: 0,
  editCount: 0,
  isEditWindowClosed: false,
  isTombstone: false,
  reactions: [],
  ...change,
})
