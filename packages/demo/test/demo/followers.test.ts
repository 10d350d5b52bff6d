import { describe, expect, it } from 'vitest'
import type { Message } from '../../../sandbox-slack/src/messages.ts'
import { CHANNELS } from '../../../sandbox-slack/src/workspace.ts'
import { compareFollowers, FOLLOWERS, type Followed } from '../../src/demo/followers.ts'
import { build, message, run } from './cast.ts'

const [WEB_TS, OPS_TS] = ['1.000001', '2.000001']

const BUILDS = [
  build({ id: '501', status: 'success', runs: [run('error'), run('success')] }),
  build({ id: '505', branch: 'release/1.2', commitId: 'b2', status: 'error', runs: [run('error')] }),
  build({ id: '503', project: 'acme/api', branch: 'release/1.2', commitId: 'c3', runs: [run('success')] }),
  build({ id: '506', branch: 'load-test', commitId: 'd4', status: 'stopped', runs: [run('stopped')] }),
]

const SHOWN: Record<string, readonly Message[]> = {
  [CHANNELS.web]: [
    message({ ts: WEB_TS, text: ':game_die: *Passed on attempt 2 (flaky)* acme/web #501 on `main`' }),
    message({ threadTs: WEB_TS, text: ':game_die: *Passed on attempt 2 (flaky)* after 3 s' }),
  ],
  [CHANNELS.ops]: [
    message({ ts: '1.5', text: ':bell: <@U0LIN00001> subscribed this channel to acme/web' }),
    message({ ts: OPS_TS, text: ':x: *Failed* acme/web #505 on `release/1.2`' }),
  ],
}

const ANSWERS = [
  ':bell: *Subscribed* to *acme/web*: failed, recovered on branches like `release/*`.',
  ':x: *Failed* acme/web #505\n• *posted*: A rule selects it A rule selects this event on this branch: `release/*` matches `release/1.2`',
]

const followed = (change: Partial<Followed> & { shown?: typeof SHOWN } = {}): Followed => ({
  builds: BUILDS,
  web: 'acme/web',
  messagesIn: (channel) => ({ ...SHOWN, ...change.shown })[channel]!,
  answers: ANSWERS,
  ...change,
})

const inOps = (...more: Message[]) => ({ shown: { [CHANNELS.ops]: [...SHOWN[CHANNELS.ops]!, ...more] } })

describe('what channels with rules of their own show at the end', () => {
  it('agrees when each has what its rules select, and nothing else', () => {
    expect(compareFollowers(followed())).toEqual({ lost: [], doubled: [], wrong: [] })
  })

  it.each(FOLLOWERS.map(({ name, channel }) => [name, channel]))(
    'has lost something when %s is empty',
    (_, channel) => {
      const { lost } = compareFollowers(followed({ shown: { [channel]: [] } }))
      expect(lost).toEqual([expect.stringMatching(/^no card tells acme\/web #50[15]$/)])
    },
  )

  it.each(FOLLOWERS)('has lost something when CI ran nothing that is for $name', ({ name, isItsBranch }) => {
    const builds = BUILDS.filter(({ branch }) => !isItsBranch(branch))
    expect(compareFollowers(followed({ builds })).lost).toEqual([`CI ran no build that is for ${name}`])
  })

  it.each([
    ['subscribe', ANSWERS.slice(1)],
    ['why', ANSWERS.slice(0, 1)],
  ])('has lost something when /ci %s is not answered', (command, answers) => {
    expect(compareFollowers(followed({ answers })).lost).toEqual([
      expect.stringContaining(`no answer to /ci ${command}`),
    ])
  })

  it('has doubled something when a build has two cards there', () => {
    const again = message({ ts: '3.3', text: ':x: *Failed* acme/web #505 on `release/1.2`' })
    expect(compareFollowers(followed(inOps(again))).doubled).toEqual(['2 cards tell acme/web #505'])
  })

  it('is wrong when a card does not show the end', () => {
    const shown = { [CHANNELS.ops]: [message({ ts: OPS_TS, text: ':arrow_forward: *Running* acme/web #505' })] }
    expect(compareFollowers(followed({ shown })).wrong).toHaveLength(1)
  })

  it.each([
    ['of another project', ':white_check_mark: *Passed* acme/api #503 on `release/1.2`', 'acme/api #503'],
    ['of another branch', ':black_square_for_stop: *Stopped* acme/web #506 on `load-test`', 'acme/web #506'],
  ])('is wrong when a channel tells a build %s', (_, text, name) => {
    const { wrong } = compareFollowers(followed(inOps(message({ ts: '4.4', text }))))
    expect(wrong).toEqual([`#ops tells ${name}, which its rules leave out`])
  })
})
