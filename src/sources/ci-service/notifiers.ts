// What CI knows of each notifier. Source: interface, "Options needed per notifier", and the options of E4.

type OptionName = 'key' | 'url' | 'room'

/** The options that a rule needs; undefined for a notifier outside the interface. */
export const optionsNeeded = (notifier: string): readonly OptionName[] | undefined =>
  NEEDED.get(notifier.trim().toLowerCase())

const NEEDED = new Map<string, readonly OptionName[]>([
  ['email', []],
  ['slack', ['key']],
  ['webhook', ['url']],
  ['campfire', ['url', 'key', 'room']],
  ['flowdock', ['key']],
  ['hipchat', ['key', 'room']],
  ['grove', ['key']],
])

/** Under which name an update takes the options of a notifier; null where it has no place for them. */
export function nestedNameOf(notifier: unknown): string | null {
  const name = typeof notifier === 'string' ? notifier.trim().toLowerCase() : ''
  return (NEEDED.get(name)?.length ?? 0) > 0 ? name : null
}

/** The name in an update of an option that CI's answers call by `name`. */
export const updateNameOf = (notifier: string, name: string): string =>
  notifier.trim().toLowerCase() === 'campfire' && name === 'url' ? 'domain' : name
