import { createRates } from '../../packages/sandbox-slack/src/rates.ts'
import type { ChannelId, MessageTs } from '../../src/domain/ids.ts'
import type { View } from '../../src/domain/cards/view.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { Edit, Failure, Notifier, Post, Search, Sent } from '../../src/slack/notifier.ts'
import { messageTs } from './build-events.ts'

/** A message as people see it. */
export interface Shown {
  channel: ChannelId
  ts: MessageTs
  thread: MessageTs | null
  key: string
  /** the attempt that it announced, according to its metadata */
  postedAttempt: string | null
  view: View
  /** its first content, the only one that notifies people */
  first: View
  plain: boolean
  postedAt: number
  /** history contains it from this time on */
  listedAt: number
}

export type CallName = 'post' | 'edit' | 'find' | 'remove' | 'ping'

/** One call to the notifier. */
export interface Call {
  name: CallName
  at: number
  channel: ChannelId | null
  view: View | null
  key: string | null
  thread: MessageTs | null
  ts: MessageTs | null
  plain: boolean
}

/** What happens to one call. */
export interface Fate {
  /** ms until it takes effect; null: never */
  landsAfterMs: number | null
  /** ms until the caller gets an answer; null: never */
  answersAfterMs: number | null
  /** what the caller gets as an answer; null: the truth */
  failure: Failure | null
  /** ms after which history contains a posted message */
  listedAfterMs: number
}

/** Success at once, and at once in history. */
export const SMOOTH: Fate = { landsAfterMs: 0, answersAfterMs: 0, failure: null, listedAfterMs: 0 }

/** A Slack in memory: channels, messages and threads. Tests decide what happens to each call. */
export interface FakeNotifier extends Notifier {
  messages: readonly Shown[]
  calls: readonly Call[]
  /** The next calls have these fates, one after the other; after that, calls succeed. */
  meet(...fates: readonly Partial<Fate>[]): void
  /** From now on this function decides each call's fate. */
  fate(of: (call: Call) => Partial<Fate> | undefined): void
  close(channel: ChannelId, code?: string): void
  open(channel: ChannelId): void
  /** A person deletes a message. */
  lose(ts: MessageTs): void
}

export function createFakeNotifier(clock: Clock): FakeNotifier {
  const messages: Shown[] = []
  const calls: Call[] = []
  const closed = new Map<ChannelId, string>()
  const coming: Partial<Fate>[] = []
  let fateOf: (call: Call) => Partial<Fate> | undefined = () => undefined
  let lastTs = 0

  async function meetFate<Outcome extends { kind: string }>(
    call: Pick<Call, 'name'> & Partial<Call>,
    effect: (fate: Fate) => Outcome | Failure,
  ): Promise<Outcome | Failure> {
    const made: Call = {
      channel: null,
      view: null,
      key: null,
      thread: null,
      ts: null,
      plain: false,
      ...call,
      at: clock.now(),
    }
    calls.push(made)
    const fate: Fate = { ...SMOOTH, ...(coming.shift() ?? fateOf(made)) }
    const landing = after(fate.landsAfterMs, () => effect(fate))
    if (fate.answersAfterMs === null) return new Promise(() => {})
    if (fate.failure === null) return landing
    await after(fate.answersAfterMs, () => null)
    return fate.failure
  }

  async function after<T>(ms: number | null, effect: () => T): Promise<T> {
    if (ms === null) return new Promise(() => {})
    if (ms > 0) await clock.sleep(ms)
    return effect()
  }

  const closure = (channel: ChannelId): Failure | null => {
    const code = closed.get(channel)
    return code === undefined ? null : { kind: 'channel-closed', code }
  }

  function appear(
    { channel, view, key, postedAttempt, thread, plain = false }: Post,
    { listedAfterMs }: Fate,
  ): Sent | Failure {
    const shut = closure(channel)
    if (shut) return shut
    if (thread !== null && !messages.some(({ ts }) => ts === thread))
      return { kind: 'message-gone', code: 'thread_not_found' }
    const ts = nextTs()
    const listedAt = clock.now() + listedAfterMs
    messages.push({
      channel,
      ts,
      thread,
      key,
      postedAttempt,
      view,
      first: view,
      plain,
      postedAt: clock.now(),
      listedAt,
    })
    return { kind: 'sent', ts }
  }

  function nextTs(): MessageTs {
    lastTs = Math.max(lastTs + 1, clock.now() * 1_000)
    return messageTs(`${Math.floor(lastTs / 1_000_000)}.${String(lastTs % 1_000_000).padStart(6, '0')}`)
  }

  function change({ channel, ts, view, postedAttempt, plain = false }: Edit): Sent | Failure {
    const shut = closure(channel)
    if (shut) return shut
    const message = messages.find((one) => one.ts === ts)
    if (!message) return { kind: 'message-gone', code: 'message_not_found' }
    Object.assign(message, { view, postedAttempt, plain })
    return { kind: 'sent', ts }
  }

  function listed({ channel, thread, key, sinceMs }: Search) {
    const shut = closure(channel)
    if (shut) return shut
    if (thread !== null && !messages.some(({ ts }) => ts === thread))
      return { kind: 'message-gone', code: 'thread_not_found' } as const
    const seen = messages.filter(
      (message) =>
        message.channel === channel &&
        message.thread === thread &&
        message.key === key &&
        message.postedAt >= sinceMs &&
        message.listedAt <= clock.now(),
    )
    return { kind: 'found', copies: seen.map(({ ts, postedAttempt }) => ({ ts, postedAttempt })) } as const
  }

  function lose(ts: MessageTs): void {
    const index = messages.findIndex((message) => message.ts === ts)
    if (index >= 0) messages.splice(index, 1)
  }

  return {
    messages,
    calls,
    meet: (...fates) => void coming.push(...fates),
    fate(of) {
      fateOf = of
    },
    close: (channel, code = 'is_archived') => void closed.set(channel, code),
    open: (channel) => void closed.delete(channel),
    lose,
    post: (message) => meetFate({ name: 'post', ...message }, (fate) => appear(message, fate)),
    edit: (message) => meetFate({ name: 'edit', ...message }, () => change(message)),
    find: (search) => meetFate({ name: 'find', ...search }, () => listed(search)),
    remove: (message) =>
      meetFate({ name: 'remove', ...message }, () => {
        lose(message.ts)
        return { kind: 'sent', ts: message.ts } as const
      }),
    ping: () => meetFate({ name: 'ping' }, () => ({ kind: 'sent' }) as const),
  }
}

/** A view in brief: `card 512 failed`, `ask stop 512 refused`. */
export function inBrief(view: View): string {
  if (view.kind === 'notice') return 'notice'
  if (view.kind === 'failures') return `tests ${view.failed} of ${view.tests}`
  if (view.kind === 'digest') return `digest ${view.lastDay} ${view.builds}`
  if (view.kind === 'request') return `ask ${view.action} ${view.buildId} ${view.stage}`
  if (view.kind === 'note') return `note ${view.what} ${view.by}`
  if (view.kind === 'reminder') return `reminder${view.broadcast ? ' to all' : ''}`
  return `${view.kind} ${view.build.buildId} ${view.shown}`
}

/** Rate-limited: retry after this time. */
export const limited = (retryAfterMs: number): Partial<Fate> => ({
  landsAfterMs: null,
  failure: { kind: 'rate-limited', code: 'ratelimited', retryAfterMs },
})

export const UNSENT: Partial<Fate> = { landsAfterMs: null, failure: { kind: 'unsent', code: 'ECONNREFUSED' } }

/** The caller cannot know the outcome, and the call has no effect. */
export const UNCLEAR_LOST: Partial<Fate> = { landsAfterMs: null, failure: { kind: 'unclear', code: 'timeout' } }

/** The caller cannot know the outcome, and the call takes effect after this time. */
export const unclearButLands = (landsAfterMs = 0): Partial<Fate> => ({
  landsAfterMs,
  failure: { kind: 'unclear', code: 'timeout' },
})

export const REFUSED: Partial<Fate> = { landsAfterMs: null, failure: { kind: 'refused', code: 'invalid_blocks' } }

export const CLOSED_WORKSPACE: Partial<Fate> = {
  landsAfterMs: null,
  failure: { kind: 'workspace-closed', code: 'token_revoked' },
}

/** The calls that Slack would have answered with 429, described in words. */
export function refusedByRates(calls: readonly Call[]): string[] {
  let now = 0
  const rates = createRates({ now: () => now })
  return calls.flatMap(({ name, channel, at }) => {
    const method = METHODS[name]
    if (method === undefined) return []
    now = at
    const waitMs = rates.admit({ token: 'bot', method, channel: channel ?? undefined })
    return waitMs === null ? [] : [`a ${name} in ${channel} at ${at} comes ${waitMs} ms too early`]
  })
}

const METHODS: Partial<Record<CallName, string>> = {
  post: 'chat.postMessage',
  edit: 'chat.update',
  find: 'conversations.history',
}
