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
import { CANARY, deliveriesIn, buildEventsIn, openDoor, traces } from './bot.ts'

describe('a delivery that was answered 202', () => {
  it('is in the database file, readable through a second connection, when the answer arrives', async () => {
    const door = await openDoor()
    for (let n = 1; n <= 20; n++) {
      await send(door.url, delivery(buildOf(n)))
      expect(rowsOf(door.folder, 'select count(*) as rows from delivery')).toEqual([{ rows: n }])
      expect(rowsOf(door.folder, `select word from fact where build_id = '${n}'`)).toEqual([{ word: 'initiated' }])
    }
  })

  it('is still there after the process is killed, and the next process knows it as a duplicate', async () => {
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

  it('is among those stored, whenever the process is killed', async () => {
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
  it('is in the database file by then, and is still there after the process is killed', async () => {
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
  it('makes the endpoint answer 503 with Retry-After and store nothing, and 202 again once it can write', async () => {
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

  it('one delivery does not affect the others that came at the same moment', async () => {
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

  it('while another process locks the file is waited for, then answered with 503, and with 202 after the lock ends', async () => {
    const folder = testFolder()
    const url = await startProcess(folder, settingsWith(folder)).url()
    const release = lockFile(folder)
    const refused = await send(url, delivery())
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
    release()
    expect(rowsOf(folder, 'select * from delivery')).toEqual([])
    await until('the door takes it', async () => (await send(url, delivery())).status === 202)
  })

  // Waiting for the file must not block everything else that the process does.
  it('while another process locks the file does not stop the process from reporting that it is up', async () => {
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

  it('while another process locks the file gives many senders an answer within seconds, and all of them 503', async () => {
    const { refused, release } = await holdTheFile(3)
    const sinceMs = Date.now()
    const answers = await refused.finally(release)
    expect(answers).toEqual([503, 503, 503])
    expect(Date.now() - sinceMs).toBeLessThan(12_000)
  })

  it('because the database server is down lets the endpoint open all the same, and answers 503', async () => {
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

/** A real process whose file is locked, with this number of deliveries on their way to it. */
async function holdTheFile(senders: number) {
  const folder = testFolder()
  const url = await startProcess(folder, settingsWith(folder)).url()
  const release = lockFile(folder)
  const sending = Array.from({ length: senders }, (_, n) => send(url, delivery(buildOf(n + 1))))
  const refused = Promise.all(sending).then((answers) => answers.map(({ status }) => status))
  return { url, refused, release }
}

/** Locks the file against writes by the app, as a backup would; the returned function releases it. */
function lockFile(folder: string): () => void {
  const holder = new DatabaseSync(databasePath(folder), { timeout: 5_000 })
  onTestFinished(() => holder.close())
  holder.exec('begin immediate')
  return () => holder.exec('rollback')
}
