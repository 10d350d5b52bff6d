import { sql, type Kysely } from 'kysely'
import type { ChannelId } from '../../domain/ids.ts'
import type { Schema } from '../schema.ts'
import type { Reads, Tx } from '../store.ts'
import type { RunQuery } from './query.ts'

/** Channels whose ids Slack has changed. */
export const readMovedChannels = (db: Kysely<Schema>, runQuery: RunQuery) =>
  ({
    async movedChannels() {
      const rows = await runQuery('movedChannels', {}, () => db.selectFrom('moved_channel').selectAll())
      return new Map(rows.map((row) => [row.former_id as ChannelId, row.id as ChannelId]))
    },
  }) satisfies Partial<Reads>

export const writeMovedChannels = (db: Kysely<Schema>) =>
  ({
    async moveChannel(from, to) {
      await db.updateTable('moved_channel').set({ id: to }).where('id', '=', from).execute()
      await db.deleteFrom('moved_channel').where('former_id', '=', to).execute()
      const moved = { former_id: from, id: to }
      await db
        .insertInto('moved_channel')
        .values(moved)
        .onConflict((conflict) => conflict.column('former_id').doUpdateSet(moved))
        .execute()
      // A card under both ids stays once, with the steps that were due under either: it is planned again before each.
      const due = ['post', 'edit', 'look'].flatMap((queue) => [sql.ref(`${queue}_at`), sql.ref(`${queue}_priority`)])
      await sql`update card set ${sql.join(due.map((column) => sql`${column} = coalesce(card.${column}, mine.${column})`))}
        from card as mine
        where card.channel = ${to} and mine.channel = ${from} and mine.subject = card.subject`.execute(db)
      for (const [table, ...key] of MOVED) {
        const isThere = key.map((column) => sql`there.${sql.ref(column)} = ${sql.ref(`${table}.${column}`)}`)
        if (UNIQUE.has(table))
          await sql`delete from ${sql.table(table)} where channel = ${from} and exists (
            select 1 from ${sql.table(table)} as there
            where ${sql.join([...isThere, sql`there.channel = ${to}`], sql` and `)})`.execute(db)
        await sql`update ${sql.table(table)} set channel = ${to} where channel = ${from}`.execute(db)
      }
      await forgetKeys(db, from, to)
    },
  }) satisfies Partial<Tx>

/** Every table with a channel's id in its column `channel`, and what else makes a row of a channel unique. */
const MOVED = [
  ['decision', 'fact_seq'],
  ['message', 'subject', 'slot', 'generation'],
  ['card', 'subject'],
  ['digest'],
  ['subscription', 'slot'],
  ['request'],
  ['interaction'],
  ['breakage_change'],
  ['pace'],
] as const satisfies readonly (readonly [keyof Schema, ...string[]])[]

/** In these tables, a row under the current id wins over one under the former id. */
const UNIQUE: ReadonlySet<string> = new Set(['decision', 'message', 'card', 'digest', 'subscription'])

/** Rows keyed by a channel's id: its closing, who was notified of it, and which mentions were answered. */
async function forgetKeys(db: Kysely<Schema>, from: ChannelId, to: ChannelId): Promise<void> {
  await db.deleteFrom('channel').where('id', '=', from).execute()
  await sql`delete from job where name like ${`% ${from}`} or name like ${`% ${from} %`}`.execute(db)
  const [mine, there] = [`mention:${from}:`, `mention:${to}:`]
  await sql`insert into event (id, heard_at) select replace(id, ${mine}, ${there}), heard_at from event
    where id like ${`${mine}%`} on conflict (id) do nothing`.execute(db)
  await sql`delete from event where id like ${`${mine}%`}`.execute(db)
}
