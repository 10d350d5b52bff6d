import type { Selectable } from 'kysely'
import type { ChannelId, MessageTs } from '../../domain/ids.ts'
import { LANES, NO_LANES, type Lane, type Lanes, type StoredMessage } from '../../domain/plan.ts'
import type { Schema } from '../schema.ts'
import type { Card } from '../kept.ts'

export const toCard = (row: Selectable<Schema['card']>): Card => ({
  subject: row.subject,
  channel: row.channel as ChannelId,
  quiet: row.quiet === 1,
  mention: row.mention === 1,
  lanes: toLanes(row),
  attempts: row.attempts,
  plain: row.plain === 1,
  problem: row.problem,
})

const toLanes = (row: Selectable<Schema['card']>): Lanes => {
  const lanes = { ...NO_LANES }
  for (const lane of LANES) {
    const at = row[`${lane}_at`]
    if (at !== null) lanes[lane] = { at, priority: row[`${lane}_priority`] ?? 0 }
  }
  return lanes
}

export const fromLanes = (lanes: Lanes) => {
  const column = (lane: Lane) => ({
    [`${lane}_at`]: lanes[lane]?.at ?? null,
    [`${lane}_priority`]: lanes[lane]?.priority ?? null,
  })
  return { ...column('post'), ...column('edit'), ...column('look') } as Partial<Selectable<Schema['card']>>
}

export const toMessage = (row: Selectable<Schema['message']>): StoredMessage => ({
  key: row.key,
  slot: row.slot,
  generation: row.generation,
  state: row.state as StoredMessage['state'],
  claimedAt: row.claimed_at,
  claimedBy: row.claimed_by,
  lookedAt: row.looked_at,
  ts: row.ts as MessageTs | null,
  digest: row.digest,
  sending: row.sending,
  sendingAt: row.sending_at,
  recheckAt: row.recheck_at,
  doubtAt: row.doubt_at,
  writtenAt: row.written_at,
  bornRun: row.born_run,
})

export const fromMessage = <Part extends Partial<StoredMessage>>(message: Part) =>
  Object.fromEntries(
    Object.entries(MESSAGE_COLUMNS)
      .filter(([field]) => field in message)
      .map(([field, column]) => [column, message[field as keyof StoredMessage]]),
  ) as Part extends StoredMessage ? MessageRow : Partial<MessageRow>

const MESSAGE_COLUMNS = {
  key: 'key',
  slot: 'slot',
  generation: 'generation',
  state: 'state',
  claimedAt: 'claimed_at',
  claimedBy: 'claimed_by',
  lookedAt: 'looked_at',
  ts: 'ts',
  digest: 'digest',
  sending: 'sending',
  sendingAt: 'sending_at',
  recheckAt: 'recheck_at',
  doubtAt: 'doubt_at',
  writtenAt: 'written_at',
  bornRun: 'born_run',
} as const satisfies Record<keyof StoredMessage, keyof Schema['message']>

type MessageRow = Omit<Selectable<Schema['message']>, 'subject' | 'channel'>
