import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BUILDS } from '../app/channel.ts'
import { databasePath, delivery, prepareStage, rowsOf, send } from '../support/app.ts'
import { startProcess } from '../support/process.ts'
import { doorsOf, IS_LONG, readyAt, redBuild, sendRed, untilTaken, untilTold } from './team-at-door.ts'

/** Where there is none, a process cannot be kept from growing its files. */
const PRLIMIT = '/usr/bin/prlimit'

/** A backup or a shell holds the file for so long. */
const LOCKED_MS = 30_000

/** Slack's pace is a matter of other tests. */
async function startBot() {
  const stage = await prepareStage({
    slack: { rates: 'off' },
    settings: { DEFAULT_CHANNEL: BUILDS, LOG_LEVEL: 'info' },
  })
  const bot = startProcess(stage.folder, stage.settings)
  return { ...stage, bot, url: await doorsOf(bot), path: databasePath(stage.folder) }
}

async function expectRefused(url: string, n: number): Promise<void> {
  const refused = await send(url, delivery(redBuild(n)))
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
}

const buildsIn = (folder: string) =>
  rowsOf(folder, 'select distinct build_id from fact order by build_id').map((row) => row['build_id'])

describe('a database file', () => {
  it.skipIf(!IS_LONG)(
    'that another process holds is refused 503 and waited for; then everything goes on',
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
    'that cannot grow takes nothing that it could not keep, and goes on when it can',
    async () => {
      const { url, slack, folder, bot } = await startBot()
      await sendRed(url, [1])
      await untilTold(slack, [1])
      // The kernel lets no file of the process grow beyond this: SQLite meets what it meets on a full disk.
      limit(bot.pid, 4_096)
      for (const n of [2, 3, 4]) await expectRefused(url, n)
      expect(await readyAt(url)).toMatchObject({ status: 503, store: 'unreachable' })
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

  it('that is removed while it is in use is not written to: what went there would be lost', async () => {
    const { url, path } = await startBot()
    expect(await sendRed(url, [1])).toEqual([1])
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    await expectRefused(url, 2)
    expect(await readyAt(url)).toMatchObject({ status: 503, store: 'unreachable' })
    expect(existsSync(path)).toBe(false)
  }, 60_000)

  it.skipIf(!IS_LONG)(
    'that is moved away and put back is used again, with nothing lost',
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
    'that is made read-only while it is in use goes on being written by whoever has it open',
    async () => {
      const { url, slack, path } = await startBot()
      chmodSync(path, 0o400)
      expect(await sendRed(url, [1])).toEqual([1])
      await untilTold(slack, [1])
    },
    60_000,
  )
})
