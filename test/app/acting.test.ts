import { expect, test } from 'vitest'
import { CHANNELS, PEOPLE } from '../../src/sandbox/slack/workspace.ts'
import { buttonsOf, cardIn, openWorld, until } from '../support/world.ts'

const { builds: BUILDS } = CHANNELS

test('a failed build has a Restart button; pressed, the thread says who asked, and the card runs, then is fixed', async () => {
  const { ci, slack, app } = await openWorld({ slack: { rates: 'off' } })
  ci.push('acme/web', { branch: 'main', message: 'Fix login', committer: 'Ada', outcome: 'error', ms: 50 })
  const card = await until(() => {
    const found = cardIn(slack, BUILDS, 'Failed')
    return found && buttonsOf(found).includes('build_restart') ? found : undefined
  })
  await slack.people.click({ user: PEOPLE.lin, channel: BUILDS, ts: card.ts, actionId: 'build_restart' })
  await until(() => slack.transcript(BUILDS).includes('Restart requested by'))
  await until(() => cardIn(slack, BUILDS, 'attempt 2'), 3000).catch(() => {})
  console.log(slack.transcript(BUILDS)); console.log(app.lines.slice(-40).join(''))
  expect(ci.calls().filter(({ path }) => path.includes('restart'))).toHaveLength(1)
})
