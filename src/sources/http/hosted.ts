import { isRecord } from '../../lib/json.ts'
import { readAnswer, type CiRequest, type CiResponse, type Rate } from './exchange.ts'
import { readLogTail, TAIL_BYTES } from './log-tail.ts'
import type { Transport } from './transport.ts'

// Calls to GitHub and GitLab. They throw a CiError; a write is sent once.

/** The largest page of both. */
export const PER_PAGE = 100

/** How long to wait after a rate limit, if the answer does not say. Source: GitHub, "Rate limits for the REST API". */
const SLOWED_MS = 60_000

/** Where a call goes, and the repository or project that it is about. */
interface Place {
  about: string
  url: URL
}

type Request = Pick<CiRequest, 'purpose'> & Partial<Omit<CiRequest, 'url' | 'secrets'>>

interface CallsOptions {
  /** the site that needs the credentials; the storage of logs is another host and gets none */
  base: URL
  transport: Transport
  credentials: (about: string) => Promise<{ headers: Record<string, string>; secret: string }>
  /** @param error null: the call succeeded */
  note?: (about: string, purpose: string, error: unknown) => void
}

export function createCalls({ base, transport, credentials, note }: CallsOptions) {
  let lastRate: Rate | null = null

  async function send({ about, url }: Place, request: Request, signal?: AbortSignal): Promise<CiResponse> {
    const { headers, secret } = await credentials(about)
    // Reads follow a redirect from an old name. Writes follow none: they go to the name or id that was just read.
    const how = { method: 'GET', followsMoves: !request.returnsRedirect, slowedMs: SLOWED_MS } as const
    const full = { ...how, ...request, url, headers: { ...headers, ...request.headers }, secrets: [secret] }
    try {
      const answer = await transport.send(full, signal)
      note?.(about, request.purpose, null)
      lastRate = answer.rate ?? lastRate
      return answer
    } catch (error) {
      note?.(about, request.purpose, error)
      throw error
    }
  }

  const get = async <T>(place: Place, purpose: string, read: (json: unknown) => T | null, signal?: AbortSignal) =>
    readAnswer(await send(place, { purpose }, signal), purpose, read)

  return {
    send,
    get,
    /** An object, as the source shows it. */
    record: (place: Place, purpose: string, signal?: AbortSignal): Promise<unknown> =>
      get(place, purpose, recordIn, signal),
    /** @param listIn reads the list in a page */
    async list(
      { about, url }: Place,
      purpose: string,
      { pagesMax = 1, listIn = arrayIn, signal }: Paged & { listIn?: ListIn } = {},
    ): Promise<unknown[]> {
      const listed: unknown[] = []
      url.searchParams.set('per_page', String(PER_PAGE))
      for (let page = 1; page <= pagesMax; page++) {
        url.searchParams.set('page', String(page))
        const found = await get({ about, url }, purpose, listIn, signal)
        listed.push(...found)
        if (found.length < PER_PAGE) break
      }
      return listed
    },
    post: (place: Place, purpose: string, body?: object): Promise<CiResponse> =>
      send(place, {
        method: 'POST',
        purpose,
        statusSuffices: true,
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
    /** The log of a job, or its end; null if it cannot be read. */
    async log(place: Place, signal?: AbortSignal): Promise<string | null> {
      const { location, text } = await send(place, { purpose: 'read the log of a job', returnsRedirect: true }, signal)
      return location === null ? text.slice(-TAIL_BYTES) : readLogTail(location, base, signal)
    },
    /** How many calls the token has left; null if the answer does not say. */
    rate: async (place: Place): Promise<Rate | null> =>
      (await send(place, { purpose: 'ask for the rate limit', statusSuffices: true })).rate,
    /** The same, as the last answer said; null: none has. */
    lastRate: () => lastRate,
  }
}

/** How many pages are read at most; left out: one. */
export interface Paged {
  pagesMax?: number
  signal?: AbortSignal | undefined
}

type ListIn = (json: unknown) => unknown[] | null

export const arrayIn: ListIn = (json) => (Array.isArray(json) ? (json as unknown[]) : null)
const recordIn = (json: unknown) => (isRecord(json) ? json : null)
