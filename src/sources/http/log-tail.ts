import { lookup as resolve } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'

// Reads the end of a log at an address that a source redirects to, such as a link to a file store. The address comes from
// outside: it gets no credentials, and must not lead into the network that the bot runs in.

/** What is kept of a log's end. */
export const TAIL_BYTES = 256 * 1024

/** A log that is longer is only read where the server gives parts of it. */
const LOG_BYTES_MAX = 32 * 1024 * 1024

const TIMEOUT_MS = 20_000

/**
 * The last part of a log, as text; null if it cannot be read, or must not.
 * @param own the source's own address, whose host may be private and need not be https: an operator has set it
 */
export async function readLogTail(address: string, own: URL, signal?: AbortSignal): Promise<string | null> {
  const url = URL.parse(address)
  if (!url || !isAllowed(url, own)) return null
  // The HTTP client is large, and is loaded with the first log.
  const { openLogAgent } = await import('./agents.ts')
  const isOwn = url.hostname === own.hostname
  const connect = { timeout: TIMEOUT_MS, autoSelectFamily: true, ...(isOwn ? {} : { lookup: publicOnly }) }
  const agent = openLogAgent({ connect, maxResponseSize: LOG_BYTES_MAX })
  const deadline = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])])
  try {
    return await tailAt(agent, url, deadline)
  } catch {
    if (signal?.aborted) throw signal.reason
    return null
  } finally {
    await agent.destroy()
  }
}

function isAllowed(url: URL, own: URL): boolean {
  if (url.username !== '' || url.password !== '') return false
  if (url.hostname === own.hostname) return url.protocol === own.protocol || url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return url.protocol === 'https:' && (isIP(host) === 0 || isPublic(host))
}

async function tailAt(agent: Dispatcher, url: URL, signal: AbortSignal): Promise<string | null> {
  const whole = await get(agent, url, signal)
  if (whole.statusCode !== 200) return null
  const length = Number(whole.headers['content-length'] ?? Number.NaN)
  if (!(length > TAIL_BYTES) || whole.headers['accept-ranges'] !== 'bytes') return tailOf(whole.body)
  whole.body.destroy()
  const part = await get(agent, url, signal, { range: `bytes=${length - TAIL_BYTES}-${length - 1}` })
  return part.statusCode === 206 ? tailOf(part.body) : null
}

const get = (agent: Dispatcher, url: URL, signal: AbortSignal, headers: Record<string, string> = {}) =>
  agent.request({ origin: url.origin, path: `${url.pathname}${url.search}`, method: 'GET', headers, signal })

async function tailOf(body: Readable): Promise<string> {
  let tail = Buffer.alloc(0)
  for await (const piece of body as AsyncIterable<Buffer>) tail = Buffer.concat([tail, piece]).subarray(-TAIL_BYTES)
  return tail.toString('utf8')
}

/**
 * Resolves only names of which every address is public. The connection uses an address that was checked: because of
 * `autoSelectFamily`, it asks for all of them.
 */
const publicOnly: LookupFunction = (hostname, options, done) =>
  resolve(hostname, { ...options, all: true }, (error, found) => {
    if (error) return done(error, [])
    if (found.every(({ address }) => isPublic(address))) return done(null, found)
    done(new Error('not a public address'), [])
  })

/** Source: IANA's special-purpose address registries. */
const SPECIAL = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16
  198.18.0.0/15 224.0.0.0/3 ::/96 64:ff9b::/96 100::/64 fc00::/7 fe80::/10 ff00::/8`
const NOT_PUBLIC = new BlockList()
for (const network of SPECIAL.split(/\s+/)) {
  const [address = '', prefix] = network.split('/')
  NOT_PUBLIC.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Also of an IPv4 address that is written as IPv6, such as `::ffff:10.0.0.1`. */
const isPublic = (address: string): boolean => !NOT_PUBLIC.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
