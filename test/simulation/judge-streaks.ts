import { openStreakOf } from '../../src/domain/builds/streak.ts'
import { branchKey } from '../../src/domain/builds/revision.ts'
import { hasStreak } from '../../src/domain/builds/stream.ts'
import type { CardView } from '../../src/domain/cards/view.ts'
import { streamName } from './hosted.ts'
import { isOvertaken, type Happened } from './oracle.ts'
import type { World } from './simulate.ts'

interface Row {
  branch_key: string
  began_at: number
  builds: number
  newest_order: string
}

/**
 * Each red stream has one open streak, whose beginning and count fit all its events; other streams have none, and none
 * whose branch or request is gone.
 */
export function judgeStreaks({ stage: { sql, slack }, scenario, frozen }: World, { buildEvents }: Happened): string[] {
  const rows = sql('select * from breakage where ended_at is null') as Row[]
  const known = new Set((sql('select distinct branch_key from fact') as Row[]).map((row) => row.branch_key))
  const branches = Map.groupBy(
    buildEvents.filter(({ branch }) => branch !== null && hasStreak(branch)),
    ({ projectId, branch }) => branchKey(projectId, branch),
  )
  const wrongs = [...branches].flatMap(([key, events]) => {
    if (!known.has(key)) return []
    const { projectId, branch } = events[0]!
    const isGone = scenario.chapters.some(({ gone }) => gone.has(streamName(projectId, branch!)))
    const streak = isGone ? null : openStreakOf(events.filter((one) => !isOvertaken(one, events)))
    const wanted = streak
      ? [`${streak.first.details.finishedAt ?? streak.first.at} ${streak.builds} ${streak.newest.buildOrder}`]
      : []
    const kept = rows.filter((row) => row.branch_key === key)
    const said = kept.map((row) => `${row.began_at} ${row.builds} ${row.newest_order}`)
    return said.join() === wanted.join() ? [] : [`breakages of ${key}: ${said.join()} instead of ${wanted.join()}`]
  })
  // A card that can no longer be edited stays as it was.
  const offered = slack.messages.filter(({ ts, view }) => view.kind === 'card' && view.ownership && !frozen.has(ts))
  const places = offered.map(({ channel, view }) => `${channel} ${(view as CardView).ownership!.id}`)
  const twice = places.filter((place, at) => places.indexOf(place) !== at)
  return [...wrongs, ...twice.map((place) => `more than one card offers the same streak: ${place}`)]
}
