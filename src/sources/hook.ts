import { isRecord } from '../lib/json.ts'

/** The state of a project's webhook to this bot. `none`: the project has none of its own; an organization or group may. */
export type Hook =
  | { state: 'fine' }
  | { state: 'none' | 'off' | 'no-events' | 'form' }
  /** `said`: what the source says of the last delivery */
  | { state: 'failing'; said: string }

/**
 * A project's webhook to this bot; of several one that works. It is recognised by its path alone, since a proxy may be in
 * front of the bot.
 */
export function ownHook(
  hooks: readonly unknown[],
  path: string,
  { addressOf, stateOf }: { addressOf(hook: Fields): unknown; stateOf(hook: Fields): Hook },
): Hook {
  const pathOf = (hook: Fields) => URL.parse(String(addressOf(hook)))?.pathname.replace(/\/$/, '') ?? ''
  const found = hooks.filter(isRecord).flatMap((hook) => (pathOf(hook).endsWith(path) ? stateOf(hook) : []))
  return found.find(({ state }) => state === 'fine') ?? found[0] ?? { state: 'none' }
}

type Fields = Record<string, unknown>
