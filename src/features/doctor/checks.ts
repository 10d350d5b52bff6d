import { legacy, site, v2, v2Scopes } from './check-ci.ts'
import { github, gitlab } from './check-hosts.ts'
import { clockOfSlack, requests, scopes, token } from './check-slack.ts'
import { type Check, fine, off, wrong, type Finding, type Say } from '../kit/check.ts'
import { errorCode } from '../../lib/error-code.ts'
import { durationWords } from '../../slack/messages/times.ts'
import { certificateWords } from '../../slack/messages/words.ts'

/** Each delivery waits for a write. A write that takes longer than this is too slow. */
export const WRITE_MS_MAX = 1_000

const MB = 1024 * 1024

/** With less free space than this, the check fails: a database that cannot grow stores no deliveries. */
const FREE_BYTES_MIN = 200 * MB

/** Checks whether a write succeeds, whether it is fast enough, and the free disk space. */
export const database: Check = {
  name: 'store',
  title: 'Database',
  calls: 'the database',
  isVital: true,
  async run({ store, clock, freeBytes, say }) {
    if (!store) return [NO_DATABASE]
    const write = async () => {
      const beganAt = clock.now()
      await store.write((tx) => tx.setLastDoneAt(JOB, beganAt))
      return clock.now() - beganAt
    }
    let ms: number
    try {
      ms = await write()
      // A busy machine may hold one write up. Two in a row are slow because of the database.
      if (ms > WRITE_MS_MAX) ms = Math.min(ms, await write())
    } catch (error) {
      const code = errorCode(error) ?? 'unknown'
      return [code === UNDEFINED_TABLE ? NO_DATABASE : writingFailed(code, say)]
    }
    const free = (await freeBytes?.()) ?? FREE_BYTES_MIN
    const found = [...(ms > WRITE_MS_MAX ? [tooSlow(ms)] : []), ...(free < FREE_BYTES_MIN ? [nearlyFull(free)] : [])]
    return found.length > 0 ? found : [fine('Writing works, and the disk has room.')]
  },
}

const NO_DATABASE = off('Buildline creates it at its first start')

/** PostgreSQL's code if the bot has not made its tables yet. */
const UNDEFINED_TABLE = '42P01'

// An examination writes only this row: the time of the last examination.
const JOB = 'doctor'

/** @param code not the message, since a database's can contain anything */
function writingFailed(code: string, say: Say): Finding {
  const certified = certificateWords(code, { server: 'the database', address: 'DATABASE_URL' }, say.code)
  if (certified) return { verdict: 'wrong', ...certified }
  return wrong(
    `Writing failed (${say.outside(code)}), so deliveries are answered with 503.`,
    `Check ${say.code('DATABASE_URL')}, and whether something else locks the database.`,
  )
}

const tooSlow = (ms: number): Finding =>
  wrong(
    `A write took ${durationWords(ms)}, and every delivery waits that long.`,
    'Find out what else uses that disk or database server.',
  )

const nearlyFull = (free: number): Finding =>
  wrong(`The disk has ${Math.floor(free / MB)} MB left.`, 'Free some space, or move the database.')

/** Checks of what no other feature owns: the connections and the database. In the order of the answer. */
export const CHECKS: readonly Check[] = [
  token,
  scopes,
  requests,
  clockOfSlack,
  v2,
  v2Scopes,
  legacy,
  site,
  github,
  gitlab,
  database,
]
