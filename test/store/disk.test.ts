import { fdatasync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gather } from '../../src/store/sqlite.ts'
import { createLogOnDisk } from '../../src/store/disk.ts'
import type { Tx } from '../../src/store/store.ts'

type ToDisk = NonNullable<Parameters<typeof createLogOnDisk>[2]>

/** A file in WAL mode with its group commit, which counts the syncs to disk. */
function openFile(toDisk: ToDisk = fdatasync) {
  const folder = mkdtempSync(join(tmpdir(), 'buildline-log-'))
  const path = join(folder, 'a.db')
  const db = new DatabaseSync(path)
  db.exec('pragma journal_mode = wal; pragma synchronous = normal; create table line (text)')
  let syncs = 0
  const log = createLogOnDisk(db, `${path}-wal`, (file, done) => {
    syncs++
    toDisk(file, done)
  })
  const commits = gather(db, {} as Tx, { log, checkPlace: () => {}, begun: () => {}, written: () => {} })
  onTestFinished(async () => {
    await commits.end()
    log.close()
    db.close()
    rmSync(folder, { recursive: true })
  })
  return {
    path,
    write: (text: string, options?: { canBeRedone: boolean }) =>
      commits.run(async () => void db.prepare('insert into line values (?)').run(text), options),
    lines: () =>
      db
        .prepare('select text from line order by text')
        .all()
        .map(({ text }) => text),
    syncs: () => syncs,
    logBytes: () => statSync(`${path}-wal`).size,
  }
}

/** A disk that answers when the test says so; `fail` answers with an error. */
function heldDisk() {
  const held: { file: number; done: (error: Error | null) => void }[] = []
  const take = async () => {
    while (held.length === 0) await new Promise(setImmediate)
    return held.shift()!
  }
  return {
    toDisk: (file: number, done: (error: Error | null) => void) => void held.push({ file, done }),
    async letGo() {
      const { file, done } = await take()
      fdatasync(file, done)
    },
    fail: async () => (await take()).done(new Error('EIO')),
  }
}

describe('a write', () => {
  it.each([
    { name: 'that can be repeated does not wait for the disk', redone: [true], syncs: 0 },
    { name: 'that must be durable waits for the disk', redone: [false], syncs: 1 },
    { name: 'shares its sync with concurrent writes', redone: [false, false, false], syncs: 1 },
    { name: 'that can be repeated waits if a concurrent one must be durable', redone: [true, false], syncs: 1 },
  ])('$name', async ({ redone, syncs }) => {
    const file = openFile()
    await Promise.all(redone.map((canBeRedone, i) => file.write(`line ${i}`, { canBeRedone })))
    expect(file.lines()).toHaveLength(redone.length)
    expect(file.syncs()).toBe(syncs)
  })

  it('resolves only when it is on disk, without blocking the thread', async () => {
    const disk = heldDisk()
    const file = openFile(disk.toDisk)
    const order: string[] = []
    const written = file.write('one').then(() => order.push('written'))
    while (file.syncs() === 0) await new Promise(setImmediate)
    order.push('something else')
    await disk.letGo()
    await written
    expect(order).toEqual(['something else', 'written'])
  })
})

describe('a log that could not be synced', () => {
  it('makes all waiting writes fail, and is merged into the file before the next write', async () => {
    const disk = heldDisk()
    const file = openFile(disk.toDisk)
    const [first, second] = [file.write('one'), file.write('two')]
    const failed = Promise.allSettled([first, second])
    await disk.fail()
    expect(await failed).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
    const before = file.logBytes()
    const third = file.write('three')
    await disk.letGo()
    await third
    expect(file.lines()).toContain('three')
    expect(file.logBytes()).toBeLessThan(before)
  })

  it('prevents writes while it cannot be merged, and allows them when it can', async () => {
    const disk = heldDisk()
    const file = openFile(disk.toDisk)
    using reader = new DatabaseSync(file.path)
    reader.exec('begin; select * from line')
    const first = file.write('one').catch((error: unknown) => String(error))
    await disk.fail()
    expect(await first).toContain('EIO')
    await expect(file.write('two')).rejects.toThrow('cannot be merged')
    reader.exec('commit')
    const third = file.write('three')
    await disk.letGo()
    await third
    expect(file.lines()).toContain('three')
    expect(file.lines()).not.toContain('two')
  })
})
