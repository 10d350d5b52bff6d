import type { WebClient } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { createHomes, DRAWN_MAX } from '../../../src/features/home/slack.ts'
import type { HomeOutcome } from '../../../src/features/home/home.ts'
import { T0 } from '../../support/build-events.ts'
import { EMPTY_HOME } from './home-states.ts'
import { recordingLog } from '../kit/stage.ts'

const ADA = 'U0ADA00001'

interface Stage {
  homes: {
    open(user: string, team: string | null): Promise<void>
    redraw(user: string, team: string | null, isSeen: boolean): Promise<void>
  }
  /** the users whose Home was drawn, in order */
  drawn: string[]
  did: ('read' | 'drawn')[]
  /** changes what Home shows */
  change(outcome?: HomeOutcome | Error): void
  /** what Slack answers to the next draw */
  failNext(error: Error): void
}

/** With a Slack that only counts; `app/home` tests it over the real endpoints. */
function openStage(): Stage {
  const drawn: string[] = []
  const did: Stage['did'] = []
  const failures: Error[] = []
  let claims = 0
  let outcome: HomeOutcome | Error = { kind: 'home', home: EMPTY_HOME }
  const drawing = createHomes(async () => {
    did.push('read')
    if (outcome instanceof Error) throw outcome
    return outcome
  })
  const slack = {
    client: {
      async apiCall(method: string, { user_id: user }: { user_id: string }) {
        expect(method).toBe('views.publish')
        const failure = failures.shift()
        if (failure) throw failure
        drawn.push(user)
        did.push('drawn')
        return { ok: true }
      },
    } as unknown as WebClient,
    log: recordingLog().log,
    newReference: () => 'reference',
  }
  return {
    homes: { open: drawing.open.bind(null, slack), redraw: drawing.redraw.bind(null, slack) },
    drawn,
    did,
    failNext: (error) => void failures.push(error),
    change(to) {
      claims += 1
      const me = { ...EMPTY_HOME.me, handles: [{ handle: `ada${claims}`, at: T0 }] }
      outcome = to ?? { kind: 'home', home: { ...EMPTY_HOME, me } }
    },
  }
}

describe('a Home', () => {
  it('is drawn whenever it is opened', async () => {
    const { homes, drawn } = openStage()
    await homes.open(ADA, null)
    await homes.open(ADA, null)
    expect(drawn).toEqual([ADA, ADA])
  })

  it('is redrawn after what its person did', async () => {
    const { homes, drawn } = openStage()
    await homes.open(ADA, null)
    await homes.redraw(ADA, null, false)
    expect(drawn).toEqual([ADA, ADA])
  })

  it('that nobody opened is neither read nor drawn, unless the click came from it', async () => {
    const { homes, did, drawn } = openStage()
    await homes.redraw(ADA, null, false)
    expect(did).toEqual([])
    await homes.redraw(ADA, null, true)
    expect(drawn).toEqual([ADA])
  })

  it('is read for the next drawing after the last one has ended, so that the newest state is drawn last', async () => {
    const { homes, did } = openStage()
    await Promise.all([homes.open(ADA, null), homes.redraw(ADA, null, false), homes.open(ADA, null)])
    expect(did).toEqual(['read', 'drawn', 'read', 'drawn', 'read', 'drawn'])
  })

  it('is among a limited number, of which those drawn last are remembered', async () => {
    const { homes, drawn } = openStage()
    for (let at = 0; at <= DRAWN_MAX; at++) await homes.open(`U${at}`, null)
    for (const user of ['U0', 'U1']) await homes.redraw(user, null, false)
    expect(drawn.slice(DRAWN_MAX + 1)).toEqual(['U1'])
  })

  it('is drawn the next time if Slack refused it', async () => {
    const { homes, drawn, failNext } = openStage()
    failNext(new Error('rate limited'))
    await homes.open(ADA, null)
    expect(drawn).toEqual([])
    await homes.redraw(ADA, null, false)
    expect(drawn).toEqual([ADA])
  })

  it('that cannot be read says so, until it can', async () => {
    const { homes, drawn, change } = openStage()
    change(new Error('the store is away'))
    await homes.open(ADA, null)
    change()
    await homes.redraw(ADA, null, false)
    expect(drawn).toEqual([ADA, ADA])
  })
})
