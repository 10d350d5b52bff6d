import { useMemo } from 'preact/hooks'
import type { Names } from '../slack/mrkdwn.ts'
import { useSlack } from '../store/workspace.tsx'

/** The names of ids, and the acting person. */
export function useNames(): Names {
  const users = useSlack((state) => state.users)
  const channels = useSlack((state) => state.channels)
  const me = useSlack((state) => state.person)
  const nowMs = useSlack((state) => state.nowMs)
  return useMemo(
    () => ({
      users: Object.fromEntries([...users.values()].map(({ id, realName }) => [id, realName])),
      channels: Object.fromEntries([...channels.values()].map(({ id, name }) => [id, name])),
      me,
      nowMs,
    }),
    [users, channels, me, nowMs],
  )
}
