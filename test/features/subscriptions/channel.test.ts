import { expect, test } from 'vitest'
import type { Subscription } from '../../../src/domain/rules/subscription.ts'
import type { Failure, Sent } from '../../../src/slack/notifier.ts'
import {
  closeChannel,
  channelOpened,
  announceClosings,
  NOTIFYING_MAX_MS,
  type ClosingDeps,
} from '../../../src/features/subscriptions/channel.ts'
import type { MessageTs } from '../../../src/domain/ids.ts'
import { openStage as openReconcileStage, RELEASES } from '../../alerts/stage.ts'
import { BUILDS } from '../operations-stage.ts'

const ADA = 'U0ADA00001'
const GRACE = 'U0GRACE001'
const LIN = 'U0LIN00001'

const made = (createdBy: string | null, change: Partial<Subscription> = {}): Subscription => ({
  channel: BUILDS,
  follows: { what: 'project', name: 'acme/web' },
  rules: null,
  quiet: false,
  mention: 'committer',
  source: createdBy === null ? 'file' : 'slack',
  ...(createdBy === null ? {} : { createdBy }),
  ...change,
})

type Ends = Record<string, Sent | Failure>

async function openStage(subscriptions: readonly Subscription[], admins: readonly string[] = []) {
  const stage = await openReconcileStage({ subscriptions })
  const { deps } = stage.embody()
  const said: { to: string; text: string }[] = []
  const ends: Ends = {}
  const telling: ClosingDeps = {
    ...deps,
    admins,
    sendText: async (to, text) => {
      const end = ends[to] ?? ({ kind: 'sent', ts: '1.0' } as Sent)
      if (end.kind === 'sent') said.push({ to, text })
      return end
    },
  }
  return {
    stage,
    telling,
    said,
    ends,
    toldTo: () => said.map(({ to }) => to),
    tell: () => announceClosings(telling),
    /** A message was refused: records that the channel is closed. */
    close: (code = 'is_archived') => closeChannel(telling, BUILDS, code),
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  }
}

test("the makers of a channel's subscriptions are told once each that it is closed", async () => {
  await using place = await openStage([made(ADA), made(GRACE, { follows: { what: 'all' } }), made(ADA)], [LIN])
  await place.close()
  await place.tell()
  await place.tell()
  await place.stage.clock.advance(2 * NOTIFYING_MAX_MS)
  await place.tell()
  expect(place.toldTo()).toEqual([ADA, GRACE])
  expect(place.said[0]!.text).toContain(`<#${BUILDS}> *cannot get builds any more*: it is archived.`)
  expect(place.said[0]!.text).toContain('*Next:* Unarchive it')
})

test('the makers are told again if the channel opens and closes again', async () => {
  await using place = await openStage([made(ADA)])
  await place.close()
  await place.tell()
  await channelOpened(place.telling, BUILDS)
  await place.tell()
  await place.stage.clock.advance(1)
  await place.close('not_in_channel')
  await place.tell()
  expect(place.said.map(({ text }) => /any more\*: (.*)\./.exec(text)?.[1])).toEqual([
    'it is archived',
    'Buildline is not in it',
  ])
})

test('for subscriptions of a file or a setting, the admins are told: users, not groups', async () => {
  await using place = await openStage([made(null), made(ADA)], [GRACE, 'S0RELEASE1', ADA])
  await place.close()
  await place.tell()
  expect(place.toldTo()).toEqual([ADA, GRACE])
})

test('if no maker can be reached, the admins are told', async () => {
  await using place = await openStage([made(ADA)], [GRACE])
  place.ends[ADA] = { kind: 'refused', code: 'user_disabled' }
  await place.close()
  await place.tell()
  expect(place.toldTo()).toEqual([GRACE])
})

test('nobody is told about a channel that no subscription names', async () => {
  await using place = await openStage([made(ADA, { channel: RELEASES })], [GRACE])
  // A card of a subscription that was removed since can be refused.
  await place.close()
  await place.tell()
  expect(place.said).toEqual([])
})

test('a person who cannot be told now is told later, and nobody is told twice', async () => {
  await using place = await openStage([made(ADA), made(GRACE)])
  place.ends[GRACE] = { kind: 'unsent', code: 'ECONNREFUSED' }
  await place.close()
  await place.tell()
  expect(place.toldTo()).toEqual([ADA])
  delete place.ends[GRACE]
  await place.stage.clock.advance(NOTIFYING_MAX_MS - 1)
  await place.tell()
  expect(place.toldTo()).toEqual([ADA])
  await place.stage.clock.advance(1)
  await place.tell()
  await place.stage.clock.advance(NOTIFYING_MAX_MS)
  await place.tell()
  expect(place.toldTo()).toEqual([ADA, GRACE])
})

test('one of two processes tells people, and the other one continues if it dies', async () => {
  await using place = await openStage([made(ADA), made(GRACE)])
  await place.close()
  let dies: (error: Error) => void = () => {}
  const dying = announceClosings({ ...place.telling, sendText: () => new Promise((_, reject) => (dies = reject)) })
  await expect.poll(async () => (await place.stage.store.read.closedChannels())[0]?.notifiedAt).not.toBeNull()
  await place.tell()
  expect(place.said).toEqual([])
  await place.stage.clock.advance(NOTIFYING_MAX_MS)
  await Promise.all([place.tell(), place.tell()])
  expect(place.toldTo()).toEqual([ADA, GRACE])
  dies(new Error('killed'))
  await expect(dying).rejects.toThrow('killed')
})

test('the default channel gets one line, also if Slack did not say whether it arrived', async () => {
  const byDefault = made(null, { channel: RELEASES, follows: { what: 'unfollowed' } })
  await using place = await openStage([made(ADA), byDefault])
  const lines: string[] = []
  const sendText: ClosingDeps['sendText'] = async (to, text) => {
    if (to === RELEASES) lines.push(text)
    return to === RELEASES ? { kind: 'unclear', code: 'timeout' } : { kind: 'sent', ts: '1.0' as MessageTs }
  }
  await place.close()
  await announceClosings({ ...place.telling, sendText })
  await place.stage.clock.advance(2 * NOTIFYING_MAX_MS)
  await announceClosings({ ...place.telling, sendText })
  expect(lines).toEqual([expect.stringContaining(`<#${BUILDS}> cannot be reached`)])
})

test('telling people does not change when the channel was closed and when it is retried', async () => {
  await using place = await openStage([made(ADA)])
  await place.close()
  const [before] = await place.stage.store.read.closedChannels()
  place.ends[ADA] = { kind: 'unsent', code: 'ECONNREFUSED' }
  await place.tell()
  await place.stage.clock.advance(NOTIFYING_MAX_MS)
  await place.tell()
  const [after] = await place.stage.store.read.closedChannels()
  expect(after).toMatchObject({ closedAt: before!.closedAt, retryAt: before!.retryAt, code: 'is_archived' })
})
