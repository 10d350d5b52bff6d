import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  buildOf,
  databasePath,
  delivery,
  rowsOf,
  send,
  settingsWith,
  testFolder,
  until,
  WEBHOOK_SECRET,
} from '../../support/app.ts'
import { startProcess } from '../../support/process.ts'
import { CANARY, deliveriesIn, buildEventsIn, openDoor, traces } from './door.ts'

describe('a delivery that was answered 202', () => {
  it('is in the file, for a second connection to read, by the time the answer is here', async () => {
    const door = await openDoor()
    for (let n = 1; n <= 20; n++) {
      await send(door.url, delivery(buildOf(n)))
      expect(rowsOf(door.folder, 'select count(*) as rows from delivery')).toEqual([{ rows: n }])
      expect(rowsOf(door.folder, `select word from fact where build_id = '${n}'`)).toEqual([{ word: 'initiated' }])
    }
  })

  it('is still there when the process is killed right after it, and is known as a duplicate by the next', async () => {
    const folder = testFolder()
    const first = startProcess(folder, settingsWith(folder))
    const url = await first.url()
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => send(url, delivery(buildOf(n + 1)))))
    first.kill('SIGKILL')
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202))
    expect(await first.exit).toMatchObject({ signal: 'SIGKILL' })
    expect(rowsOf(folder, 'select count(distinct build_id) as builds from fact')).toEqual([{ builds: 50 }])
    const second = startProcess(folder, settingsWith(folder))
    expect((await send(await second.url(), delivery(buildOf(50)))).text).toBe('{"status":"duplicate"}')
  })

  it('is among those that were taken, whenever the process is killed', async () => {
    const folder = testFolder()
    const bot = startProcess(folder, settingsWith(folder))
    const url = await bot.url()
    const taken: string[] = []
    const sending = Array.from({ length: 200 }, async (_, n) => {
      const answer = await send(url, delivery(buildOf(n + 1))).catch(() => null)
      if (answer?.status === 202) taken.push(String(n + 1))
      if (taken.length === 40) bot.kill('SIGKILL')
    })
    await Promise.all(sending)
    await bot.exit
    const kept = new Set(rowsOf(folder, 'select build_id from fact').map((row) => row['build_id']))
    expect(taken.filter((build) => !kept.has(build))).toEqual([])
    expect(taken.length).toBeGreaterThanOrEqual(40)
  })
})

describe('a report that was answered 202', () => {
  it('is in the file by then, and is there when the process is killed right after it', async () => {
    const folder = testFolder()
    const bot = startProcess(folder, settingsWith(folder))
    const url = await bot.url()
    const path = `/webhooks/reports/${WEBHOOK_SECRET}`
    const reportOf = (shard: number) => ({ ...delivery(), report: { shard: `${shard}/20`, tests: 7, failed: 1 } })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(url, reportOf(n), { path })))
    bot.kill('SIGKILL')
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202))
    expect(await bot.exit).toMatchObject({ signal: 'SIGKILL' })
    expect(rowsOf(folder, 'select count(*) as reports from report')).toEqual([{ reports: 20 }])
  })
})

describe('a store that cannot write', () => {
  it('makes the endpoint answer 503 with Retry-After and keep nothing, and 202 again once it can', async () => {
    const door = await openDoor()
    const db = new DatabaseSync(databasePath(door.folder))
    onTestFinished(() => db.close())
    db.exec(`create trigger full_disk before insert on delivery begin select raise(abort, 'disk full'); end`)
    const refused = await send(door.url, delivery({ message: CANARY }))
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
    expect(refused.text).not.toMatch(/disk|sql|trigger/i)
    expect(traces(door)).toEqual([])
    db.exec('drop trigger full_disk')
    expect((await send(door.url, delivery())).text).toBe('{"status":"recorded"}')
  })

  it('for one delivery does not fail the others that came in the same moment', async () => {
    const door = await openDoor()
    const db = new DatabaseSync(databasePath(door.folder))
    onTestFinished(() => db.close())
    db.exec(`create trigger no_seven before insert on fact when new.build_id = '7'
      begin select raise(abort, 'no seven'); end`)
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => send(door.url, delivery(buildOf(n + 1)))))
    expect(answers.map(({ status }, n) => (status === 202 ? null : `${n + 1}: ${status}`)).filter(Boolean)).toEqual([
      '7: 503',
    ])
    expect(buildEventsIn(door)).toHaveLength(11)
    expect(deliveriesIn(door)).toHaveLength(11)
  })

  it('because another process holds the file is waited for, then answered 503, and 202 once it lets go', async () => {
    const folder = testFolder()
    const url = await startProcess(folder, settingsWith(folder)).url()
    const release = lockFile(folder)
    const refused = await send(url, delivery())
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
    release()
    expect(rowsOf(folder, 'select * from delivery')).toEqual([])
    await until('the door takes it', async () => (await send(url, delivery())).status === 202)
  })

  // Waiting for the file must not stand in the way of everything else that the process does.
  it('because another process holds the file leaves the process able to say that it is up', async () => {
    const { url, refused, release } = await holdTheFile(3)
    const over = new AbortController()
    const ended = refused.finally(() => over.abort())
    try {
      while (!over.signal.aborted) await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1_000) })
    } finally {
      release()
      await ended
    }
  })

  it('because another process holds the file is told to many senders in seconds, and as 503 to all', async () => {
    const { refused, release } = await holdTheFile(3)
    const sinceMs = Date.now()
    const answers = await refused.finally(release)
    expect(answers).toEqual([503, 503, 503])
    expect(Date.now() - sinceMs).toBeLessThan(12_000)
  })

  it('because the database server is not there: the endpoint opens all the same and answers 503', async () => {
    const url = await startProcess(
      testFolder(),
      settingsWith('', { DATABASE_URL: 'postgres://ada:pass-canary@127.0.0.1:9/db' }),
    ).url()
    const answer = await send(url, delivery())
    expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([503, true])
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([503, { store: 'unreachable' }])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })
})

/** A real process whose file is locked, and so many deliveries on their way to it. */
async function holdTheFile(senders: number) {
  const folder = testFolder()
  const url = await startProcess(folder, settingsWith(folder)).url()
  const release = lockFile(folder)
  const sending = Array.from({ length: senders }, (_, n) => send(url, delivery(buildOf(n + 1))))
  const refused = Promise.all(sending).then((answers) => answers.map(({ status }) => status))
  return { url, refused, release }
}

/** Takes the right to write from the app, as a backup would; the answer gives it back. */
function lockFile(folder: string): () => void {
  const holder = new DatabaseSync(databasePath(folder), { timeout: 5_000 })
  onTestFinished(() => holder.close())
  holder.exec('begin immediate')
  return () => holder.exec('rollback')
}
