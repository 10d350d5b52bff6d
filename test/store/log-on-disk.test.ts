import { fdatasync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gather } from '../../src/store/gather.ts'
import { createLogOnDisk } from '../../src/store/log-on-disk.ts'
import type { Tx } from '../../src/store/store.ts'

type ToDisk = NonNullable<Parameters<typeof createLogOnDisk>[2]>

/** A file in WAL mode, its group commit, and how often the disk was waited for. */
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
  const commits = gather(db, {} as Tx, { log, checkPlace: () => {} })
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

/** A disk that answers when it is told to; `fail` answers with its fault. */
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
    { name: 'that can be done again waits for no disk', redone: [true], syncs: 0 },
    { name: 'that must last waits for it', redone: [false], syncs: 1 },
    { name: 'shares the wait with those of its moment', redone: [false, false, false], syncs: 1 },
    { name: 'that can be done again waits with one that must last', redone: [true, false], syncs: 1 },
  ])('$name', async ({ redone, syncs }) => {
    const file = openFile()
    await Promise.all(redone.map((canBeRedone, i) => file.write(`line ${i}`, { canBeRedone })))
    expect(file.lines()).toHaveLength(redone.length)
    expect(file.syncs()).toBe(syncs)
  })

  it('is kept for its writer only when the disk has it, and the thread goes on meanwhile', async () => {
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

describe('a log that the disk did not take', () => {
  it('fails each write that waited for it, and is merged into the file before the next one', async () => {
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

  it('takes no write while it cannot be merged, and the next one when it can', async () => {
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
