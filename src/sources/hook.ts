import { isRecord } from '../lib/json.ts'

/** A project's webhook to this bot. `none`: it has none of its own; its organization or group may have one. */
export type Hook =
  | { state: 'fine' }
  | { state: 'none' | 'off' | 'no-events' | 'form' }
  /** `said`: what the source says about the last delivery */
  | { state: 'failing'; said: string }

/**
 * Finds a project's webhook to this bot; if there are several, one that works. Only its path is compared, since a proxy
 * may be in front of the bot.
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
