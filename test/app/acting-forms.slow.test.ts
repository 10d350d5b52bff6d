import { describe, expect, it } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import type { Switches } from '../../packages/sandbox-ci/src/switches.ts'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { openWorld, press, pushRed, type, untilAnswered, untilCard, untilThread } from '../support/world.ts'
import { writesTo } from '../support/world.ts'

const { ada, lin } = PEOPLE

/** Everything that the contract leaves open, in the form that is not the sandbox's default. */
const OTHER_FORMS: Partial<Switches> = {
  listForm: 'envelope',
  perPageDefault: 1,
  perPageMax: 1,
  bigIds: true,
  idsAsStrings: true,
  legacyStatusWords: 'synonyms',
  deliveryStatusWords: 'synonyms',
  legacyProjectForm: 'wrapped',
  legacyBuildsOrder: 'oldest-first',
  restartStatusCode: 202,
  restartKeepsId: false,
  missingFields: ['message', 'committer', 'commit_url', 'project_full_name'],
}

describe('a CI with all other forms of answers', () => {
  it('can list projects, stop and restart builds', async () => {
    const world = await openWorld({ ci: { switches: { ...OTHER_FORMS, buildMs: 50 } } })
    const { ci } = world
    ci.push('acme/web', { outcome: 'none' })
    const card = await untilCard(world, ['Running', 'acme/web'], ACTION_IDS.stop)
    await press(world, lin, card, ACTION_IDS.stop)
    await untilThread(world, card, `Stop requested by <@${lin}>`, 'Stopped')
    await press(world, lin, await untilCard(world, ['Stopped'], ACTION_IDS.restart), ACTION_IDS.restart)
    await untilThread(world, card, `Restart requested by <@${lin}>`, 'attempt 2')
    await untilCard(world, ['Passed', 'attempt 2'], ACTION_IDS.restart)
    await type(world, ada, '/ci list')
    await untilAnswered(world, ada, ['3 projects', 'acme/web', 'acme/ios · Pro'])
    expect([writesTo(ci, 'stop').length, writesTo(ci, 'restart').length]).toEqual([1, 1])
  })

  it.each(['error', 'text', 'html', 'empty'] as const)(
    'has its errors understood (%s); their words are shown escaped and mention nobody',
    async (errorForm) => {
      const world = await openWorld({ ci: { switches: { errorForm } } })
      await pushRed(world)
      const card = await untilCard(world, ['Failed'], ACTION_IDS.restart)
      const reason = 'no <!channel>, *never* <https://evil.example|here>'
      world.ci.addFault({ kind: 'status', statusCode: 400, where: 'legacy', method: 'POST', times: 1, reason })
      await press(world, lin, card, ACTION_IDS.restart)
      const { text, ...more } = await untilAnswered(world, lin, ['Not restarted', 'It may be running again already'])
      expect(`${text}${JSON.stringify(more)}`).not.toMatch(/<!channel>|<https:\/\/evil|<h1>|<!doctype/i)
    },
  )

  it('that says "rate limit" with a 403 does not count as one that lacks rights', async () => {
    const world = await openWorld()
    world.ci.push('acme/web', { outcome: 'none' })
    const card = await untilCard(world, ['Running'], ACTION_IDS.stop)
    world.ci.addFault({ kind: 'status', statusCode: 403, where: 'v2', times: 1, reason: 'Rate Limit Exceeded' })
    await press(world, lin, card, ACTION_IDS.stop)
    await untilAnswered(world, lin, [
      'Not stopped',
      'CI says there were too many requests',
      'The build is still running',
    ])
    expect(writesTo(world.ci, 'stop')).toHaveLength(1)
  })
})
