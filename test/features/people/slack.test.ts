import { describe, expect, it } from 'vitest'
import { attemptRefText } from '../../../src/domain/cards/request.ts'
import { openPeopleStage } from '../kit/people-stage.ts'
import { ada, BUILDS, button, lin, postCard } from '../kit/stage.ts'

describe('/ci me', () => {
  it('says of a name that one has already that it is so', async () => {
    const { type } = await openPeopleStage()
    expect(await type('me ada')).toContain('`ada` *is yours*')
    expect(await type('me Ada')).toContain('`ada` *is already yours*')
  })

  it("sends only people who are no admins to one, for another person's name", async () => {
    const { type } = await openPeopleStage({
      permits: async (right, { user }) =>
        right === 'administer' && user !== ada ? { kind: 'no', why: 'not-listed', who: [] } : { kind: 'yes' },
    })
    await type('me grace', { user: lin })
    expect(await type('me grace')).toContain('You are an admin: `/ci me grace for me` makes it yours')
    await type('me ada')
    for (const text of ['me ada', 'me forget ada'])
      expect(await type(text, { user: lin })).toContain('An admin can decide: `/ci me ada for @you`')
  })
})

describe("That's me", () => {
  it('is gone from the reply once the name is claimed', async () => {
    const { behind, slack, type, untilTold } = await openPeopleStage()
    // The stage's channel mentions nobody.
    const { ref } = await behind.ended('error', { committer: 'ada' })
    behind.reconcile.sql('update card set mention = 1')
    await type('on it acme/web')
    await behind.clock.advance(5_000)
    const claims = () =>
      behind.reconcile.slack.messages.map(({ view }) => (view.kind === 'reply' ? view.claim : null)).filter(Boolean)
    expect(claims()).toEqual([attemptRefText(ref)])
    const ts = await postCard(slack, [button('build_claim', attemptRefText(ref))])
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'build_claim' })
    expect((await untilTold(2)).at(-1)).toContain('`ada` *is yours*')
    await behind.clock.advance(5_000)
    expect(claims()).toEqual([])
  })
})
