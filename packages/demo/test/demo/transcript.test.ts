import { expect, it } from 'vitest'
import { escapeMrkdwn } from '../../../../src/lib/escape.ts'
import { PEOPLE } from '../../../sandbox-slack/src/workspace.ts'
import { transcriptOf } from '../../src/demo/transcript.ts'
import { BUILDS, openStage } from '../../../sandbox-slack/test/stage.ts'

it('a channel is printed as people read it, in UTC, and what strangers typed as they typed it', async () => {
  const { sandbox, post, call } = await openStage()
  const message = 'Nudge the logo <two> pixels & *more*'
  const root = await post({ text: `:x: *Failed* <https://ci.test/1|#501> on \`main\` · ${escapeMrkdwn(message)}` })
  await post({ text: `<@${PEOPLE.ada}> (committer \`Ada\`)`, thread_ts: root })
  await call('chat.postEphemeral', {
    channel: BUILDS,
    user: PEOPLE.ada,
    text: 'red since <!date^1777800600^{date_short} {time}|2026-05-03 09:30 UTC>',
  })
  expect(transcriptOf(sandbox, BUILDS).split('\n')).toEqual([
    '#builds',
    expect.stringMatching(/^\d\d:\d\d:\d\d Buildline {2}❌ Failed #501 on main · Nudge the logo <two> pixels/),
    expect.stringMatching(/^ {4}\d\d:\d\d:\d\d Buildline {2}@Ada \(committer Ada\)$/),
    'only visible to Ada: red since 2026-05-03 09:30 UTC',
  ])
  expect(transcriptOf(sandbox, BUILDS)).toContain(message)
})
