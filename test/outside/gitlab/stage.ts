import { onTestFinished } from 'vitest'
import { startGitlab, startReceiver } from '../../../packages/sandbox-gitlab/test/support.ts'
import type { SandboxGitlab } from '../../../packages/sandbox-gitlab/src/server.ts'
import { recordDelivery, recordLookedUp } from '../../../src/alerts/record/record.ts'
import { createProjectRules } from '../../../src/ci-sync/reading.ts'
import type { CardView } from '../../../src/domain/cards/view.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Log } from '../../../src/lib/log.ts'
import { styleOf } from '../../../src/slack/messages/words.ts'
import { createGitlabClient } from '../../../src/sources/gitlab/client.ts'
import { createGitlabEndpoint } from '../../../src/sources/gitlab/endpoint.ts'
import { polledGitlab } from '../../../src/sources/gitlab/source.ts'
import { createTransport } from '../../../src/sources/http/transport.ts'
import { createPoll } from '../../../src/sources/poll.ts'
import { BUILDS, follower, openStage, RELEASES, type Stage } from '../../alerts/stage.ts'

/** How the bot learns of pipelines. */
export const WAYS = ['webhooks', 'polling'] as const

/** What became of a project's pipelines. */
export interface Seen {
  /** the cards in a channel that gets every event, oldest first, as `Failed`; an account notice as `notice` */
  cards: string[]
  /** whether a channel with the default rules got a message */
  isPosted: boolean
}

/** Something happens in a project; the bot has learnt of it before the next step. */
type Step = (gitlab: SandboxGitlab, project: string) => void

/**
 * Plays pipelines in a sandbox GitLab, in all projects at once, and shows what the bot made of them: its endpoint or its
 * polling, its core, and a Slack that is played.
 */
export async function played(
  way: (typeof WAYS)[number],
  projects: readonly string[],
  steps: readonly Step[],
): Promise<Seen[]> {
  const stage = await openStage({ subscriptions: [follower(BUILDS), follower(RELEASES, { rules: null })] })
  onTestFinished(() => stage[Symbol.asyncDispose]())
  const gitlab = await startGitlab({ clock: stage.clock, projects })
  const learn = way === 'webhooks' ? await byWebhook(stage, gitlab) : await byPolling(stage, gitlab, projects)
  await bringToLife(stage)
  for (const step of steps) {
    for (const project of projects) step(gitlab, project)
    await learn()
    // Slack takes one message a second.
    await stage.clock.advance(10_000 + projects.length * 1_000)
  }
  return projects.map((project) => seenOf(stage, project))
}

async function bringToLife(stage: Stage): Promise<void> {
  const { rulesOf } = createProjectRules({ ...stage, log: SILENT, v2: null, legacy: null })
  await stage.live({ rulesOf, configured: { v2: false, legacy: false, gitlab: true } })
}

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

async function byWebhook(stage: Stage, gitlab: SandboxGitlab) {
  const receiver = await startReceiver()
  gitlab.setWebhookUrl(receiver.url)
  const endpoint = createGitlabEndpoint([gitlab.address().webhookToken!], stage.clock.now)
  return async () => {
    await gitlab.settle()
    for (const { body, headers } of receiver.received.splice(0)) {
      const reading = endpoint.read(Buffer.from(body), headers)
      if (reading.kind === 'delivery') await recordDelivery({ ...stage }, reading)
      else if (reading.kind !== 'unwanted') throw new Error(JSON.stringify(reading))
    }
  }
}

async function byPolling(stage: Stage, gitlab: SandboxGitlab, projects: readonly string[]) {
  const { url, token } = gitlab.address()
  const transport = createTransport({ clock: systemClock })
  onTestFinished(() => transport.close())
  const record = (...[build, origin]: Parameters<Parameters<typeof createPoll>[0]['record']>) =>
    recordLookedUp({ ...stage }, build, origin)
  const client = createGitlabClient({ url, token, transport })
  const poll = createPoll({ ...stage, log: SILENT, record }, polledGitlab(client, projects))
  // What has ended by the first look is not posted.
  await poll(new AbortController().signal)
  await stage.clock.advance(1_000)
  return async () => {
    await stage.clock.advance(60_000)
    await poll(new AbortController().signal)
  }
}

function seenOf({ slack }: Stage, project: string): Seen {
  const shown = slack.messages.filter(({ first }) => JSON.stringify(first).includes(`"project":"${project}"`))
  const cards = shown.flatMap(({ channel, view }) => (channel === BUILDS && view.kind === 'card' ? view : []))
  const notices = shown.filter(({ channel, view }) => channel === BUILDS && view.kind === 'notice')
  return {
    cards: [...cards.map(labelOf), ...notices.map(() => 'notice')],
    isPosted: shown.some(({ channel }) => channel === RELEASES),
  }
}

const labelOf = ({ shown, word }: CardView): string =>
  shown === 'unknown' ? `Unknown (${word})` : styleOf(shown).label
