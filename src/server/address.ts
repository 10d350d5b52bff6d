/** One IPv6 subscriber has a whole /64: its addresses count as one. */
export function neighbourhood(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = [], tail] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros = tail ? Array.from({ length: IPV6_GROUPS - head.length - tail.length }, () => '0') : []
  return [...head, ...zeros, ...(tail ?? [])].slice(0, IPV6_GROUPS / 2).join(':')
}

const IPV6_GROUPS = 8
