import { describe, expect, it } from 'vitest'
import { answerOverview, answerStatus } from '../../../src/features/builds/status-messages.ts'
import { build } from '../kit/stage.ts'

const CONTEXT = { command: 'status', branch: null, reference: '1' }

describe('the red branches', () => {
  it('that the overview does not show are counted', () => {
    const { text } = answerOverview({
      newest: { builds: [build({ shown: 'failed' })], red: 4 },
      running: { kind: 'running', where: 'everywhere', builds: [], more: 0 },
    })
    expect(text).toContain('*4 red, 0 running* in all projects')
    expect(text).toContain('… and 3 more.')
  })

  it('of a channel are counted in words', () => {
    const status = (red: number) =>
      answerStatus({ kind: 'channel-status', where: 'channel', builds: [build()], more: 0, red }, CONTEXT).text
    expect(status(0)).toContain("*No red branches* in this channel's projects")
    expect(status(1)).toContain("*1 branch is red* in this channel's projects")
    expect(status(12)).toContain('*12 branches are red* in')
  })
})
