import { small, type Part } from '../slack/messages/answer.ts'

/** What is said of channels that the asker cannot look into: how many they are. */
export function hiddenParts(hidden: number): Part[] {
  if (hidden === 0) return []
  const left =
    hidden === 1 ? 'One channel is left out: you are not in it' : `${hidden} channels are left out: you are not in them`
  return [small(`:lock: ${left}, or Slack does not say who is where.`)]
}
