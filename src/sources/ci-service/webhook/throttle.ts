/** Wrong secrets that one address may send in a window before it is told to wait. */
export const WRONG_MAX = 20
export const WRONG_WINDOW_MS = 60_000

/** Addresses remembered; beyond it the one that was quiet longest is forgotten, so that strangers cannot fill the memory. */
export const ADDRESSES_MAX = 10_000

/** Counts wrong secrets by address. Right ones never come here: all deliveries may come from one address. */
export function createThrottle(now: () => number) {
  const windows = new Map<string, { since: number; wrong: number }>()

  return {
    /** Counts one wrong secret. @returns seconds to wait when there were too many, else null */
    wrong(address: string): number | null {
      const key = neighbourhood(address)
      const known = windows.get(key)
      const window = known && now() - known.since < WRONG_WINDOW_MS ? known : { since: now(), wrong: 0 }
      window.wrong++
      windows.delete(key)
      windows.set(key, window)
      if (windows.size > ADDRESSES_MAX) windows.delete(windows.keys().next().value!)
      return window.wrong > WRONG_MAX ? Math.ceil((window.since + WRONG_WINDOW_MS - now()) / 1_000) : null
    },
    size: () => windows.size,
  }
}

/** One IPv6 subscriber has a whole /64: count that as one address. */
function neighbourhood(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = [], tail] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros = tail ? Array.from({ length: IPV6_GROUPS - head.length - tail.length }, () => '0') : []
  return [...head, ...zeros, ...(tail ?? [])].slice(0, IPV6_GROUPS / 2).join(':')
}

const IPV6_GROUPS = 8
