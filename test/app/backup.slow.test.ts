import { spawn } from 'node:child_process'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { buildOf, databasePath, delivery, prepareStage, send, settled, type Build } from '../support/app.ts'
import { startPostgres } from '../support/postgres.ts'
import { startProcess } from '../support/process.ts'
import { BUILDS, headline, headlines, saidIn, untilSaid } from './channel.ts'

const COPY = fileURLToPath(new URL('../../src/cli/copy.ts', import.meta.url))

const server = await startPostgres()
afterAll(async () => {
  if (!('impossible' in server)) await server[Symbol.asyncDispose]()
})

/** Runs `npm run copy` as an operator does. */
function copy(...flags: string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [COPY, ...flags])
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, said }))
  })
}

const builds = (from: number, to: number, status: string): Build[] =>
  Array.from({ length: to - from + 1 }, (_, n) => buildOf(from + n, { status, branch: `b${from + n}` }))

async function sendEach(url: string, said: readonly Build[]): Promise<void> {
  for (const build of said) expect((await send(url, delivery(build))).status).toBe(202)
}

const cards = (word: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, n) => `${word} acme/web #${from + n}`)

const openStage = () => prepareStage({ subscriptions: [`{ channel: ${BUILDS}, project: acme/web }`] })

describe('the files of a bot that was started with a permissive umask', () => {
  it('can be read by its own user only: database, write-ahead log and copies', async () => {
    const { folder, settings } = await openStage()
    const before = process.umask(0o022)
    const bot = startProcess(folder, settings)
    const url = await bot.url()
    await sendEach(url, builds(1, 1, 'initiated'))
    const { code } = await copy('--from', `sqlite:${databasePath(folder)}`, '--to', `sqlite:${join(folder, 'copy.db')}`)
    process.umask(before)
    expect(code).toBe(0)
    const files = readdirSync(folder).filter((name) => /\.db(?:-wal|-shm)?$/.test(name))
    expect(files).toEqual(expect.arrayContaining(['buildline.db', 'buildline.db-wal', 'copy.db']))
    expect(files.filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0)).toEqual([])
    expect(bot.output()).not.toContain('other users can read the database')
    bot.kill('SIGTERM')
    await bot.exit
    chmodSync(databasePath(folder), 0o644)
    const next = startProcess(folder, settings)
    await next.url()
    expect(next.output()).toContain(`other users can read the database: run chmod 600 '${databasePath(folder)}'`)
  })
})

describe('a backup', () => {
  it('can be made while the bot receives deliveries, and a bot that starts from it continues with the same cards', async () => {
    const { folder, settings, slack } = await openStage()
    const backup = join(folder, 'backup.db')
    const first = startProcess(folder, settings)
    const url = await first.url()
    await sendEach(url, builds(1, 5, 'initiated'))
    await settled(url)
    // A bot that starts from the copy may repeat messages that were posted during the copy, but not these earlier ones.
    const [copied] = await Promise.all([
      copy('--from', `sqlite:${databasePath(folder)}`, '--to', `sqlite:${backup}`),
      sendEach(url, builds(6, 9, 'initiated')),
    ])
    expect(copied).toMatchObject({ code: 0, said: expect.stringMatching(/^fact: \d+$/m) })
    await settled(url)
    first.kill('SIGKILL')
    await first.exit
    const second = startProcess(folder, { ...settings, DATABASE_URL: `sqlite:${backup}` })
    await sendEach(await second.url(), builds(1, 5, 'error'))
    await settled(await second.url())
    const known = saidIn(slack, BUILDS).slice(0, 5)
    expect(known.map(({ text }) => headline(text)).toSorted()).toEqual(cards('Failed', 1, 5))
    expect(known.map(({ replies }) => replies.length)).toEqual([1, 1, 1, 1, 1])
    const again = headlines(slack, BUILDS).slice(5)
    expect(again.filter((line) => /#[1-5]$/.test(line))).toEqual([])
  }, 60_000)

  it.skipIf('impossible' in server)(
    'can move to PostgreSQL and back, with the same cards',
    async () => {
      if ('impossible' in server) throw new Error(server.impossible)
      const { folder, settings, slack } = await openStage()
      const file = startProcess(folder, settings)
      await sendEach(await file.url(), builds(1, 3, 'initiated'))
      await settled(await file.url())
      file.kill('SIGTERM')
      await file.exit
      const database = await server.createDatabase()
      expect(await copy('--from', `sqlite:${databasePath(folder)}`, '--to', database)).toMatchObject({ code: 0 })
      const moved = startProcess(folder, { ...settings, DATABASE_URL: database })
      await sendEach(await moved.url(), [...builds(1, 3, 'success'), ...builds(4, 4, 'initiated')])
      await settled(await moved.url())
      moved.kill('SIGTERM')
      await moved.exit
      const back = `sqlite:${join(folder, 'back.db')}`
      expect(await copy('--from', database, '--to', back)).toMatchObject({ code: 0 })
      const again = startProcess(folder, { ...settings, DATABASE_URL: back })
      await sendEach(await again.url(), builds(4, 4, 'error'))
      await settled(await again.url())
      await untilSaid(slack, BUILDS, [...cards('Passed', 1, 3), 'Failed acme/web #4'])
    },
    60_000,
  )
})

describe('a copy that fails', () => {
  it.each([
    ['without a source', [], 'Usage: npm run copy'],
    ['from a missing file', ['--from', 'sqlite:/nowhere/x.db', '--to', 'sqlite:/tmp/y.db'], 'no such file'],
    ['from an unknown database', ['--from', 'mysql://x', '--to', 'sqlite:/tmp/y.db'], '--from: it is neither sqlite'],
    [
      'from a server that is away',
      ['--from', 'postgres://u:hunter2@127.0.0.1:9/x', '--to', 'sqlite:/tmp/y.db'],
      'opened',
    ],
  ])('%s says why, and shows no password', async (_, flags, words) => {
    const { code, said } = await copy(...flags)
    expect(code).toBe(1)
    expect(said).toContain(words)
    expect(said).not.toContain('hunter2')
  })

  it('because its target is not empty does not disturb the bot that uses the target', async () => {
    const { folder, settings, slack } = await openStage()
    const bot = startProcess(folder, settings)
    await sendEach(await bot.url(), builds(1, 1, 'initiated'))
    const other = join(folder, 'other.db')
    const own = `sqlite:${databasePath(folder)}`
    expect(await copy('--from', own, '--to', `sqlite:${other}`)).toMatchObject({ code: 0 })
    const { code, said } = await copy('--from', `sqlite:${other}`, '--to', own)
    expect([code, said]).toEqual([1, expect.stringContaining('copy into an empty one')])
    await sendEach(await bot.url(), builds(1, 1, 'error'))
    await untilSaid(slack, BUILDS, ['Failed acme/web #1'])
  })
})
