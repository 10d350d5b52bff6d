import type { Channel, User } from './wire.ts'

/** The other person or app in a direct channel of `person`; undefined for other channels. */
export function partnerIn(
  { kind, members }: Channel,
  users: ReadonlyMap<string, User>,
  person: string,
): User | undefined {
  if (kind !== 'im') return undefined
  return users.get(members.find((id) => id !== person) ?? '')
}

/** The id of the direct channel of these two; null if it is not open yet. */
export const directOf = (
  channels: ReadonlyMap<string, Channel>,
  [one, other]: readonly [string, string],
): string | null =>
  [...channels.values()].find(({ kind, members }) => kind === 'im' && members.includes(one) && members.includes(other))
    ?.id ?? null
