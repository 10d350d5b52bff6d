import { describe, expect, it } from 'vitest'
import { createMemberships } from '../../../src/slack/api/directory.ts'
import { T0 } from '../../support/build-events.ts'
import { createHandClock } from '../../support/hand-clock.ts'
import { startHttpStub, type StubRequest } from '../../support/http-stub.ts'

const ADA = 'U0ADA00001'

/** A stub of Slack that answers with this number of pages, with one channel on each. */
const startPages = (pages: number) =>
  startHttpStub(({ body }) => {
    const page = Number(new URLSearchParams(body).get('cursor') ?? '0')
    const next = page + 1 < pages ? String(page + 1) : ''
    return { json: { ok: true, channels: [{ id: `C0PAGE000${page}` }], response_metadata: { next_cursor: next } } }
  })

function open(url: string) {
  const clock = createHandClock(T0)
  const warnings: string[] = []
  const log = { warn: (_: object, text: string) => void warnings.push(text) }
  const { channelsOf, seenBy } = createMemberships({ token: 'xoxb-canary', apiUrl: `${url}/api/`, clock, log })
  return { clock, warnings, channelsOf, seenBy }
}

const asked = ({ body }: StubRequest) => new URLSearchParams(body)

describe('the channels that somebody is in', () => {
  it('are read up to the last page, and include private channels', async () => {
    await using slack = await startPages(3)
    const channels = await open(slack.url).channelsOf(ADA)
    expect([...(channels ?? [])]).toEqual(['C0PAGE0000', 'C0PAGE0001', 'C0PAGE0002'])
    expect(asked(slack.requests[0]!).get('types')).toBe('public_channel,private_channel')
    expect(asked(slack.requests[0]!).get('user')).toBe(ADA)
  })

  it('are only those of the first five pages if there are more', async () => {
    await using slack = await startPages(6)
    expect((await open(slack.url).channelsOf(ADA))?.size).toBe(5)
    expect(slack.requests).toHaveLength(5)
  })

  it('are looked up again after a minute, separately for each person', async () => {
    await using slack = await startPages(1)
    const { channelsOf, clock } = open(slack.url)
    await Promise.all([channelsOf(ADA), channelsOf(ADA)])
    await clock.advance(59_999)
    await channelsOf(ADA)
    expect(slack.requests).toHaveLength(1)
    await clock.advance(1)
    await channelsOf(ADA)
    await channelsOf('U0LIN00001')
    expect(slack.requests).toHaveLength(3)
  })

  it('are unknown while Slack gives no answer, and this is not remembered', async () => {
    let isAway = true
    await using slack = await startHttpStub(() =>
      isAway
        ? { json: { ok: false, error: 'missing_scope' } }
        : { json: { ok: true, channels: [{ id: 'C0BUILDS01' }] } },
    )
    const { channelsOf, warnings } = open(slack.url)
    expect(await channelsOf(ADA)).toBeNull()
    expect(warnings).toHaveLength(1)
    isAway = false
    expect([...((await channelsOf(ADA)) ?? [])]).toEqual(['C0BUILDS01'])
  })

  it('are read after the time that Slack asks to wait, if that is short', async () => {
    await using slack = await startHttpStub((_, at) =>
      at === 0
        ? { status: 429, headers: { 'retry-after': '2' }, json: { ok: false, error: 'ratelimited' } }
        : { json: { ok: true, channels: [{ id: 'C0BUILDS01' }] } },
    )
    const { channelsOf, clock, warnings } = open(slack.url)
    const asking = channelsOf(ADA)
    await expect.poll(() => clock.advance(1_000).then(() => slack.requests)).toHaveLength(2)
    expect([...((await asking) ?? [])]).toEqual(['C0BUILDS01'])
    expect(warnings).toEqual([])
  })
})

describe('the channels that somebody can look into', () => {
  const answering = (ours: object) =>
    startHttpStub((request) =>
      asked(request).get('user') === ADA ? { json: { ok: true, channels: [{ id: 'C0SECRET01' }] } } : { json: ours },
    )

  it('are their own channels, and the public ones that we are in', async () => {
    await using slack = await answering({ ok: true, channels: [{ id: 'C0BUILDS01' }] })
    expect([...((await open(slack.url).seenBy(ADA)) ?? [])].toSorted()).toEqual(['C0BUILDS01', 'C0SECRET01'])
    const ours = slack.requests.map(asked).find((request) => !request.has('user'))
    expect(ours?.get('types')).toBe('public_channel')
  })

  it('are unknown while Slack does not answer either of the two questions', async () => {
    await using slack = await answering({ ok: false, error: 'missing_scope' })
    expect(await open(slack.url).seenBy(ADA)).toBeNull()
  })
})
