import { setNewest } from '../../lib/bounded.ts'
import { permit } from './permission.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createClient, type ClientOptions } from './client.ts'
import { isOutsider, personIn, readHome } from './directory.ts'
import { classify } from './errors.ts'

/** How long Slack's answer about an address is valid. */
export const KNOWN_FOR_MS = 24 * 60 * 60_000

/** Answers are kept for this many addresses; beyond this the oldest is dropped. */
const REMEMBERED_MAX = 5_000

/** Concurrent calls. Few, because calls for people who click come first. */
const CALLS_MAX = 2

/** After a failure no call is made for this long, or for as long as Slack asks. */
export const PAUSE_MS = 60_000

export type Addresses = ReturnType<typeof createAddresses>

/** Finds the person with an e-mail address. Needs `users:read.email`. Addresses are neither logged nor stored. */
export function createAddresses({ clock, log, ...options }: ClientOptions & { clock: Clock; log: Pick<Log, 'warn'> }) {
  const client = createClient(options)
  const answers = new Map<string, { user: string | null; at: number }>()
  const underWay = new Set<string>()
  let ours: Awaited<ReturnType<typeof readHome>> | null = null
  let pausedUntil = 0

  async function lookUp(email: string): Promise<void> {
    underWay.add(email)
    try {
      const user = await ownerOf(email)
      setNewest(answers, email, { user, at: clock.now() }, REMEMBERED_MAX)
    } catch (error) {
      const failure = classify(error)
      pausedUntil = clock.now() + (failure.kind === 'rate-limited' ? failure.retryAfterMs : PAUSE_MS)
      log.warn(
        { code: failure.code },
        'could not look up an e-mail address in Slack; until the next try, replies ask everybody',
      )
    } finally {
      underWay.delete(email)
    }
  }

  async function ownerOf(email: string): Promise<string | null> {
    try {
      const person = personIn(await client.apiCall('users.lookupByEmail', { email }))
      ours ??= await readHome(client)
      const mayRead = permit('read', { ...person, isOutsider: isOutsider(person, ours) }, NO_GRANTS, [])
      return mayRead.kind === 'yes' ? person.id : null
    } catch (error) {
      if (classify(error).code === 'users_not_found') return null
      throw error
    }
  }

  function fresh(email: string): { user: string | null } | null {
    const answer = answers.get(email)
    return answer && clock.now() - answer.at < KNOWN_FOR_MS ? answer : null
  }

  return {
    /**
     * Looks up the address in Slack, unless that was done within a day. Does not wait.
     * @returns whether an answer may come
     */
    ask(email: string): boolean {
      if (clock.now() < pausedUntil || fresh(email)) return false
      if (underWay.size < CALLS_MAX && !underWay.has(email)) void lookUp(email)
      return true
    },
    /** The user's id. Null if not known yet, and for bots, people who have left, and people of other workspaces. */
    known: (email: string): string | null => fresh(email)?.user ?? null,
  }
}

const NO_GRANTS = { operators: [], approvers: [], admins: [] }
