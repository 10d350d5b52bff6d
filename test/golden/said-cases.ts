import { GITHUB_REFUSED, GITLAB_REFUSED, LEGACY_REFUSED, V2_REFUSED } from '../../src/runtime/clients.ts'
import type { StoredInteraction } from '../../src/store/records.ts'
import type { Subscription } from '../../src/domain/rules/subscription.ts'
import { answerInterrupted, answerUndone } from '../../src/features/kit/interrupted.ts'
import { BUILD_AT, CAST, CHANNEL, REFERENCE } from '../../packages/demo/src/samples/cast.ts'
import { endLine, lookedUpLine } from '../../src/features/projects/messages.ts'
import { alarmText } from '../../src/slack/api/send-text.ts'
import { closedLine, importedLine, subscribedLine, unsubscribedLine } from '../../src/slack/messages/subscription.ts'
import { lookedUpLine as runLookedUp } from '../../src/features/run/messages.ts'
import { HOSTILE } from './answers-stage.ts'

/** A message that Buildline sends by itself, and when. */
export interface SaidCase {
  when: string
  /** the text, with markup */
  text: string
  blocks?: readonly object[]
}

const followed = (change: Partial<Subscription> = {}): Subscription => ({
  channel: CHANNEL,
  follows: { what: 'project', name: CAST.project },
  rules: [{ branch: 'main', branchMatch: null, events: ['failed', 'recovered'] }],
  quiet: false,
  mention: 'committer',
  source: 'slack',
  id: '7',
  ...change,
})

const all = followed({ follows: { what: 'all' }, rules: null, quiet: true })
const hostile = followed({ follows: { what: 'project', name: HOSTILE.project } })

const closed = (code: string) => closedLine({ channel: CHANNEL, code, followed: [followed(), all] })

const WRITE = {
  action: 'edit-project',
  project: CAST.project,
  what: ['branches', 'team_ids[0]', 'team_ids[1]'],
  requestedBy: CAST.user,
} as const

const interaction = (what: string): StoredInteraction => ({
  id: 'i1',
  interactionKey: 'k1',
  user: CAST.user,
  what,
  channel: CHANNEL,
  threadTs: null,
  responseUrl: null,
  receivedAt: BUILD_AT,
  state: 'owed',
  claimedBy: 'p1',
  claimedAt: BUILD_AT,
})

const interrupted = (what: string, isUnshown = false) => {
  const { text, blocks } = answerInterrupted({ interaction: interaction(what), request: null, isUnshown }, REFERENCE)
  return { text, blocks }
}

const undone = answerUndone(REFERENCE)

/** Every message that is neither card, reply, notice nor answer, by the name of its golden file. */
export const SAID_CASES: Readonly<Record<string, SaidCase>> = {
  'follows-now': {
    when: 'Somebody made the channel follow a project: everybody there sees it.',
    text: subscribedLine(CAST.user, followed(), null),
  },
  'follows-otherwise': {
    when: 'Somebody changed what the channel is told of a project.',
    text: subscribedLine(CAST.user, followed(), all),
  },
  'follows-over': {
    when: 'Somebody made a channel follow one project that follows all of them already.',
    text: subscribedLine(CAST.user, followed(), null, all),
  },
  'follows-many': {
    when: 'Somebody imported subscriptions: the channel gets one line for all of them.',
    text: importedLine(CAST.user, [
      { now: followed(), was: all },
      ...Array.from({ length: 5 }, () => ({ now: hostile, was: null })),
    ]),
  },
  'follows-hostile': {
    when: 'The channel follows a project whose name tries to mention and format.',
    text: subscribedLine(CAST.user, hostile, null),
  },
  'follows-no-more': {
    when: 'Somebody ended what the channel follows.',
    text: unsubscribedLine(CAST.user, [followed(), all]),
  },
  'closed-archived': {
    when: 'A channel was archived: the person who subscribed it gets one direct message.',
    text: closed('is_archived'),
  },
  'closed-not-in': {
    when: 'Buildline was removed from a channel that follows something.',
    text: closed('not_in_channel'),
  },
  'closed-gone': { when: 'A channel that follows something is gone.', text: closed('channel_not_found') },
  'closed-refused': {
    when: 'Slack lets nobody post in a channel that follows something.',
    text: closed('restricted_action'),
  },
  'closed-hostile': {
    when: 'Slack refuses with a word that nobody knows.',
    text: closedLine({ channel: CHANNEL, code: HOSTILE.code, followed: [hostile] }),
  },
  'edit-done': {
    when: 'Somebody has changed a project in CI: the channel where it was requested sees it.',
    text: endLine({ ...WRITE, state: 'confirmed' }),
  },
  'edit-refused': { when: 'CI refused the change.', text: endLine({ ...WRITE, state: 'refused' }) },
  'edit-unconfirmed': {
    when: 'It is not clear whether CI has saved the change.',
    text: endLine({ ...WRITE, state: 'unconfirmed' }),
  },
  'create-done': {
    when: 'Somebody has created a project in CI.',
    text: endLine({ ...WRITE, action: 'create-project', project: 'acme/shop', state: 'confirmed' }),
  },
  'reset-done': {
    when: 'Somebody has reset the AES key of a project.',
    text: endLine({ ...WRITE, action: 'reset-aes-key', what: ['aes_key'], state: 'confirmed' }),
  },
  'looked-up': {
    when: 'Buildline was killed while CI reset an AES key: the person who asked for it is told what CI shows.',
    text: lookedUpLine({ action: 'reset-aes-key', project: CAST.project, channel: CHANNEL }, true),
  },
  'looked-up-not-shown': {
    when: 'Nobody knows whether CI changed a project, and it shows no change.',
    text: lookedUpLine({ action: 'edit-project', project: CAST.project, channel: null }, false),
  },
  'looked-up-hostile': {
    when: 'The name of such a project tries to mention and format.',
    text: lookedUpLine({ action: 'create-project', project: HOSTILE.project, channel: CHANNEL }, true),
  },
  'run-looked-up': {
    when: 'It was not known which run was started: the person who wanted it is told once GitHub shows it.',
    text: runLookedUp({ project: CAST.project, what: ['main'], state: 'accepted' }, { number: '513', url: CAST.buildUrl }),
  },
  'run-not-shown': {
    when: 'GitHub shows no such run, or several that may be it, although it said yes.',
    text: runLookedUp({ project: HOSTILE.project, what: [HOSTILE.branch], state: 'accepted' }, null),
  },
  'alarm-v2': {
    when: 'CI refuses the credentials of its v2 interface: each admin gets a direct message, once an hour at most.',
    text: alarmText(V2_REFUSED),
  },
  'alarm-legacy': {
    when: 'CI refuses the key of its legacy interface: each admin gets a direct message, once an hour at most.',
    text: alarmText(LEGACY_REFUSED),
  },
  'alarm-github': {
    when: 'GitHub refuses the token: each admin gets a direct message, once an hour at most.',
    text: alarmText(GITHUB_REFUSED),
  },
  'alarm-gitlab': {
    when: 'GitLab refuses the token: each admin gets a direct message, once an hour at most.',
    text: alarmText(GITLAB_REFUSED),
  },
  'interrupted-nothing-done': {
    when: 'Buildline was killed before it could answer a command that asks nothing of CI.',
    ...interrupted('/ci status acme/web'),
  },
  'interrupted-perhaps-kept': {
    when: 'Buildline was killed before it could answer somebody who changed what the channel follows.',
    ...interrupted('/ci subscribe acme/web'),
  },
  'interrupted-hostile': {
    when: 'Buildline was killed before it could answer a command that tries to mention and format.',
    ...interrupted(HOSTILE.typed),
  },
  'answer-not-shown': {
    when: 'Slack refused the answer to a command, wherever it was to be shown.',
    ...interrupted('/ci status acme/web', true),
  },
  'not-done': {
    when: 'What was asked could not be written down, so nothing was done.',
    text: undone.text,
    blocks: undone.blocks,
  },
}
