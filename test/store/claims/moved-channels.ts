import { expect, test } from 'vitest'
import type { ChannelRule } from '../../../src/domain/rules/rule.ts'
import { channelId, HOUR, T0 } from '../../support/build-events.ts'
import type { Place, Places } from '../../support/stores.ts'
import { CARD, decided } from '../given.ts'

const FORMER = channelId('C0FORMER01')
const PRESENT = channelId('C0PRESENT1')
const ADA = 'U0ADA00001'

/**
 * Text columns that hold no channel's id: a new column is either named here, or moved with its channel. `event` and `job`
 * have keys in which one stands, which the next test is about; `slot` is not used any more.
 */
const WITHOUT_CHANNEL: Readonly<Record<string, string>> = {
  breakage: 'began_order branch branch_key ended_build id lineage_key newest_order owner project_id',
  breakage_change: 'ask_key breakage_id id kind made_by made_to subject',
  build:
    'branch branch_key build_id build_key build_order build_uuid committer lineage_key number project_id status word',
  card: 'call call_by details problem subject',
  decision: 'looked notice_day reason rules_from subject verdict',
  delivery: 'answer body key',
  digest: 'kind period set_by view zone',
  event: 'id',
  fact: 'branch branch_key build_id build_key build_order commit_id details judgement lineage_key origin project_id word',
  former_name: 'name_key uuid',
  heard: 'full_key full_name name name_key project_id project_uuid repository',
  intake: 'lineage_key',
  interaction: 'ask_key body claimed_by id response_url state thread_ts user_id what',
  job: 'name',
  lease: 'held_by name',
  message: 'born_run claimed_by digest key sending slot state subject ts',
  pace: 'call lane',
  person: 'handle user_id',
  person_setting: 'user_id',
  presence: 'id',
  project: 'claim filter legacy_id name name_key rules type uuid',
  report: 'body build_key',
  request:
    'action ask_key asked_by asked_team build_key claimed_by code id lineage_key new_build_id new_build_uuid project_uuid reason state subject target via',
  slot: 'call channel lane',
  subscription: 'changed_by created_by details follows mention remind rules slot',
}

interface Column {
  table: string
  name: string
  type: string
}

const COLUMNS = {
  sqlite: `select m.name as "table", c.name as name, lower(c.type) as type from sqlite_master m, pragma_table_info(m.name) c
    where m.type = 'table' and m.name not like 'sqlite_%' and m.name not like 'kysely_%'`,
  postgres: `select table_name as "table", column_name as name, data_type as type from information_schema.columns
    where table_schema = 'public' and table_name not like 'kysely_%'`,
}

const columnsOf = async (place: Place): Promise<Column[]> =>
  (await place.sql(COLUMNS[place.kind])) as unknown as Column[]

const holding = async (place: Place, columns: readonly Column[], id: string): Promise<Record<string, string>> => {
  const found: Record<string, string[]> = {}
  for (const { table, name } of columns)
    if ((await place.sql(`select 1 from "${table}" where "${name}" = '${id}'`)).length > 0)
      (found[table] ??= []).push(name)
  return Object.fromEntries(Object.entries(found).map(([table, names]) => [table, names.toSorted().join(' ')]))
}

/** Channels whose ids Slack has changed. */
export function movedChannelClaims(places: () => Places): void {
  test('everything that is stored under the former id is moved, in every table', async () => {
    await using place = await places().open()
    const texts = (await columnsOf(place)).filter(({ type, table }) => type === 'text' && table !== 'moved_channel')
    for (const [table, columns] of Map.groupBy(await columnsOf(place), (one) => one.table)) {
      const values = columns.map(({ type }) => (type === 'text' ? `'${FORMER}'` : '1'))
      await place.sql(
        `insert into "${table}" (${columns.map(({ name }) => `"${name}"`).join(', ')}) values (${values.join(', ')})`,
      )
    }
    await place.store.write((tx) => tx.moveChannel(FORMER, PRESENT))
    expect(await holding(place, texts, FORMER)).toEqual(WITHOUT_CHANNEL)
  })

  test('what is keyed by the former id is forgotten, or keyed by the present one', async () => {
    await using place = await places().open()
    const { store } = place
    await store.write(async (tx) => {
      await tx.closeChannel({ channel: FORMER, code: 'channel_not_found', at: T0, retryAt: T0 })
      await tx.setLastDoneAt(`tell-closing ${FORMER} ${ADA}`, T0)
      await tx.rememberRequest(`mention:${FORMER}:1.2`, T0)
    })
    await store.write((tx) => tx.moveChannel(FORMER, PRESENT))
    expect(await store.read.closedChannels()).toEqual([])
    expect(await place.sql(`select name from job where name like '%${FORMER}%'`)).toEqual([])
    expect(await store.write((tx) => tx.rememberRequest(`mention:${PRESENT}:1.2`, T0))).toBe(false)
  })

  test('a channel that moves twice is found by each of its former ids, and one that moves back by none', async () => {
    await using place = await places().open()
    const { store } = place
    const last = channelId('C0LAST0001')
    await store.write((tx) => tx.moveChannel(FORMER, PRESENT))
    await store.write((tx) => tx.moveChannel(PRESENT, last))
    expect(await store.read.movedChannels()).toEqual(new Map([FORMER, PRESENT].map((id) => [id, last])))
    await store.write((tx) => tx.moveChannel(last, FORMER))
    expect(await store.read.movedChannels()).toEqual(new Map([PRESENT, last].map((id) => [id, FORMER])))
  })

  test('what was stored under both ids stays as it is under the present one, and a card has the steps of both', async () => {
    await using place = await places().open()
    const { store } = place
    const due = { at: T0 + HOUR, priority: 1 }
    const rule = (events: ChannelRule['events']): ChannelRule => ({ branch: 'main', branchMatch: 'exact', events })
    const all = { follows: { what: 'all' }, quiet: false, mention: 'nobody' } as const
    const api = { ...all, follows: { what: 'project', name: 'acme/api' } } as const
    await store.write(async (tx) => {
      for (const [channel, one, reason] of [
        [FORMER, { ...all, rules: [rule(['failed'])] }, 'updates-card'],
        [PRESENT, { ...all, rules: [rule(['success'])] }, 'every-event'],
      ] as const) {
        await tx.saveSubscription({ channel, ...one }, { user: ADA, at: T0 })
        await tx.ensureCard({ ...CARD, channel, quiet: false, mention: false })
        const [post, edit, look] = channel === FORMER ? [due, null, due] : [null, due, null]
        await tx.setQueues({ ...CARD, channel }, { post, edit, look })
        await tx.saveDecision(decided({ ...CARD, channel, eventSeq: 1, reason }))
      }
      await tx.saveSubscription({ channel: FORMER, ...api, rules: null }, { user: ADA, at: T0 })
    })
    await store.write((tx) => tx.moveChannel(FORMER, PRESENT))
    const subscribed = await store.read.subscriptionsOf(PRESENT)
    expect(subscribed.map(({ rules }) => rules)).toEqual([[rule(['success'])], null])
    expect(await store.read.cardsOf(CARD.subject)).toEqual([{ ...CARD, channel: PRESENT }])
    expect((await store.read.card({ ...CARD, channel: PRESENT }))?.queues).toEqual({ post: due, edit: due, look: due })
    expect(await store.read.decisionsOfEvent(1)).toMatchObject([{ channel: PRESENT, reason: 'every-event' }])
  })
}
