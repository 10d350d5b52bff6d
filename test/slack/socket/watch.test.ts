import { describe, expect, it, onTestFinished } from 'vitest'
import { createLogThrottle } from '../../../src/lib/log.ts'
import { createSocketWatch, CUTS_MAX, SOCKET_AWAY_MS_MAX, SocketEnded } from '../../../src/slack/socket/watch.ts'
import { createClient } from '../../../src/slack/api/client.ts'
import { createSandboxSlack } from '../../../packages/sandbox-slack/src/sandbox-slack.ts'
import { recordingLog } from '../../features/kit/stage.ts'

const AWAY = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })

/** What Slack's own client throws if the app token is wrong. */
async function refusal(): Promise<unknown> {
  const slack = createSandboxSlack()
  await slack.start()
  onTestFinished(() => slack.stop())
  const client = createClient({ token: 'xapp-wrong-1', apiUrl: slack.apiUrl })
  return client.apiCall('apps.connections.open').catch((error: unknown) => error)
}

function openWatch() {
  let now = 0
  const clock = { now: () => now }
  const { log, lines } = recordingLog()
  const watch = createSocketWatch({ clock, log, logThrottle: createLogThrottle(clock) })
  const said = () => lines.filter(({ level }) => level !== 'debug').map(({ text }) => text)
  return { watch, said, lines, pass: (ms: number) => (now += ms) }
}

describe('a Socket Mode connection', () => {
  it('that is reopened is no problem until there was none for a minute', () => {
    const { watch, pass } = openWatch()
    watch.opened()
    watch.proven()
    pass(SOCKET_AWAY_MS_MAX)
    expect(watch.lost('refresh_requested')).toBe(true)
    watch.failed(AWAY)
    pass(SOCKET_AWAY_MS_MAX)
    expect([watch.stands(), watch.trouble()]).toEqual([false, null])
    pass(1)
    expect(watch.trouble()).toEqual({ kind: 'away', code: 'ECONNREFUSED' })
    watch.opened()
    expect([watch.stands(), watch.trouble()]).toEqual([true, null])
  })

  it('that Slack refuses is a problem at once, and is logged once without a stack', async () => {
    const { watch, said, lines } = openWatch()
    const error = await refusal()
    for (let tries = 0; tries < 10; tries++) watch.failed(error)
    expect(watch.trouble()).toEqual({ kind: 'refuses', code: 'invalid_auth' })
    expect(said()).toEqual([expect.stringMatching(/^Slack refuses SLACK_APP_TOKEN \(invalid_auth\): no command/)])
    expect(lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)).toEqual([
      { part: 'slack', code: 'invalid_auth' },
    ])
  })

  it.each(['link_disabled', 'too_many_websockets'])('that Slack ends with %s is a problem at once', (reason) => {
    const { watch, said } = openWatch()
    watch.opened()
    watch.proven()
    watch.lost(reason)
    for (let tries = 0; tries < 10; tries++) watch.failed(new SocketEnded(reason))
    expect(watch.trouble()).toEqual({ kind: 'refuses', code: reason })
    expect(said()).toEqual([expect.stringContaining(`(${reason})`)])
    watch.opened()
    expect(watch.trouble()).toBeNull()
  })

  it('that is cut again and again is a problem after a minute, with one warning, until one is good', () => {
    const { watch, said, pass } = openWatch()
    watch.opened()
    watch.proven()
    watch.lost(null)
    for (let cuts = 0; cuts < CUTS_MAX; cuts++) {
      watch.opened()
      expect(watch.lost('warning')).toBe(false)
    }
    expect([watch.trouble(), said()]).toEqual([null, [expect.stringMatching(/^Connections to Slack keep closing/)]])
    pass(SOCKET_AWAY_MS_MAX + 1)
    watch.opened()
    expect(watch.trouble()).toEqual({ kind: 'refuses', code: 'cut_again' })
    watch.proven()
    expect([watch.trouble(), said().at(-1)]).toEqual([null, expect.stringContaining('open again')])
    expect(said()).toHaveLength(2)
  })
})
