import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BUILDS } from '../app/channel.ts'
import { databasePath, delivery, prepareStage, rowsOf, send, testFolder, until, type Settings } from '../support/app.ts'
import { startProcess } from '../support/process.ts'
import { doorsOf, IS_LONG, readyAt, redBuild, sendRed, untilTaken, untilTold } from './team-at-door.ts'

/** Without it, the size of a process's files cannot be limited. */
const PRLIMIT = '/usr/bin/prlimit'

/** How long a backup or a shell locks the file. */
const LOCKED_MS = 30_000

/** Slack's rate limits are tested elsewhere. */
async function startBot(settings: Settings = {}) {
  const stage = await prepareStage({
    slack: { rates: 'off' },
    settings: { DEFAULT_CHANNEL: BUILDS, LOG_LEVEL: 'info', ...settings },
  })
  // A start that makes the tables: an older copy of the file has none.
  rmSync(databasePath(stage.folder))
  const bot = startProcess(stage.folder, stage.settings)
  return { ...stage, bot, url: await doorsOf(bot), path: databasePath(stage.folder) }
}

/** A disk of a few megabytes, which is removed with the test. */
function mountDisk(): string {
  const folder = testFolder()
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder])
  onTestFinished(() => void execFileSync('umount', ['-l', folder]))
  return folder
}

/** Only root may mount. */
const canMount =
  process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

/** Writes until the disk has not a byte left. */
function fill(path: string): void {
  for (const bytes of [65_536, 1])
    try {
      for (;;) appendFileSync(path, Buffer.alloc(bytes))
    } catch (error) {
      expect(String(error)).toContain('ENOSPC')
    }
}

/** Merges the log into the file, as SQLite does by itself from time to time. */
function checkpoint(path: string): void {
  const db = new DatabaseSync(path)
  db.exec('pragma wal_checkpoint(truncate)')
  db.close()
}

function otherDatabase(): Buffer {
  const path = join(testFolder(), 'other.db')
  const db = new DatabaseSync(path)
  db.exec('create table other (value text)')
  db.close()
  return readFileSync(path)
}

async function expectRefused(url: string, n: number): Promise<void> {
  const refused = await send(url, delivery(redBuild(n)))
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
}

const buildsIn = (folder: string) =>
  rowsOf(folder, 'select distinct build_id from fact order by build_id').map((row) => row['build_id'])

describe('a database file', () => {
  it.skipIf(!IS_LONG)(
    'that another process locks leads to 503s until it is free; then everything continues',
    async () => {
      const { url, slack, folder, path } = await startBot()
      await sendRed(url, [1])
      await untilTold(slack, [1])
      const holder = new DatabaseSync(path, { timeout: 5_000 })
      onTestFinished(() => holder.close())
      holder.exec('begin immediate')
      const heldAt = performance.now()
      let tries = 0
      while (performance.now() - heldAt < LOCKED_MS) {
        await expectRefused(url, 100 + tries++)
        expect(await readyAt(url)).toMatchObject({ status: 503, store: 'unreachable' })
        expect((await fetch(`${url}/healthz`)).status).toBe(200)
      }
      holder.exec('rollback')
      await untilTaken(url, 2)
      await untilTold(slack, [1, 2])
      expect(buildsIn(folder)).toEqual(['1', '2'])
    },
    120_000,
  )

  const limit = (pid: number, bytes: number | 'unlimited') =>
    execFileSync(PRLIMIT, ['--pid', String(pid), `--fsize=${bytes}:unlimited`])

  it.skipIf(!existsSync(PRLIMIT))(
    'that cannot grow accepts nothing that it could not store, and continues when it can',
    async () => {
      const { url, slack, folder, bot } = await startBot()
      await sendRed(url, [1])
      await untilTold(slack, [1])
      // The kernel lets no file of the process grow beyond this, which is like a full disk for SQLite.
      limit(bot.pid, 4_096)
      for (const n of [2, 3, 4]) await expectRefused(url, n)
      expect(await readyAt(url)).toMatchObject({ status: 503, store: 'disk' })
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      expect(buildsIn(folder)).toEqual(['1'])
      limit(bot.pid, 'unlimited')
      await untilTaken(url, 5)
      await untilTold(slack, [1, 5])
      expect(await readyAt(url)).toMatchObject({ status: 200, store: 'ok' })
      expect(buildsIn(folder)).toEqual(['1', '5'])
    },
    90_000,
  )

  it.skipIf(!canMount)(
    'on a full disk makes the bot not ready, and ready again when there is room',
    async () => {
      const disk = mountDisk()
      const { url, slack } = await startBot({ DATABASE_URL: `sqlite:${join(disk, 'buildline.db')}` })
      await sendRed(url, [1])
      await untilTold(slack, [1])
      expect(await readyAt(url)).toMatchObject({ status: 200, store: 'ok' })
      const filler = join(disk, 'filler')
      fill(filler)
      await expectRefused(url, 2)
      expect(await readyAt(url)).toMatchObject({
        status: 503,
        store: 'disk',
        wrong: [expect.stringMatching(/^The disk of the database is full or fails/)],
      })
      rmSync(filler)
      await untilTaken(url, 3)
      await until('it is ready', async () => (await readyAt(url)).status === 200)
      await untilTold(slack, [1, 3])
    },
    90_000,
  )

  it.each<[string, (size: number, first: Buffer) => Buffer]>([
    ['zeros', (size) => Buffer.alloc(size)],
    ['nothing', () => Buffer.alloc(0)],
    ['another database', () => otherDatabase()],
    ['an older copy', (_, first) => first],
  ])(
    'that is overwritten with %s while in use makes the bot not ready, and is not written any more',
    async (_, bytes) => {
      const { url, path } = await startBot()
      const first = readFileSync(path)
      expect(await sendRed(url, [1])).toEqual([1])
      checkpoint(path)
      expect(await readyAt(url)).toMatchObject({ status: 200, store: 'ok' })
      writeFileSync(path, bytes(statSync(path).size, first))
      expect(await readyAt(url)).toMatchObject({
        status: 503,
        store: 'replaced',
        wrong: [expect.stringMatching(/^The database file was removed, replaced or overwritten/)],
      })
      await expectRefused(url, 2)
    },
    60_000,
  )

  it('that was deleted while in use is not written any more, since these writes would be lost', async () => {
    const { url, path } = await startBot()
    expect(await sendRed(url, [1])).toEqual([1])
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    await expectRefused(url, 2)
    expect(await readyAt(url)).toMatchObject({ status: 503, store: 'replaced' })
    expect(existsSync(path)).toBe(false)
  }, 60_000)

  it.skipIf(!IS_LONG)(
    'that is moved away and back is used again, with nothing lost',
    async () => {
      const { url, slack, folder, path } = await startBot()
      await sendRed(url, [1])
      renameSync(path, `${path}.aside`)
      await expectRefused(url, 2)
      renameSync(`${path}.aside`, path)
      await untilTaken(url, 3)
      await untilTold(slack, [1, 3])
      expect(buildsIn(folder)).toEqual(['1', '3'])
    },
    60_000,
  )

  it.skipIf(!IS_LONG)(
    'that becomes read-only while in use can still be written by the process that has it open',
    async () => {
      const { url, slack, path } = await startBot()
      chmodSync(path, 0o400)
      expect(await sendRed(url, [1])).toEqual([1])
      await untilTold(slack, [1])
    },
    60_000,
  )
})
