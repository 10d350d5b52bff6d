import { chmodSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compileCacheFolder } from '../src/compile-cache.ts'
import { testFolder } from './support/app.ts'

/** A data folder, and what `compileCacheFolder` makes of it. */
function dataFolder(mode = 0o700): { folder: string; cacheOf: () => string | null } {
  const folder = join(testFolder(), 'data')
  mkdirSync(folder)
  chmodSync(folder, mode)
  return { folder, cacheOf: () => compileCacheFolder(`sqlite:${folder}/buildline.db`) }
}

describe('the cache of compiled code', () => {
  it('is a folder of our own beside the database, and never in the temporary folder, where another user could plant code', () => {
    const { folder, cacheOf } = dataFolder()
    expect(cacheOf()).toBe(join(folder, 'compile-cache'))
    expect(statSync(join(folder, 'compile-cache')).mode & 0o777).toBe(0o700)
    expect(cacheOf()).toBe(join(folder, 'compile-cache'))
  })

  it('is not used where others can write to it', () => {
    const { folder, cacheOf } = dataFolder()
    mkdirSync(join(folder, 'compile-cache'))
    chmodSync(join(folder, 'compile-cache'), 0o777)
    expect(cacheOf()).toBeNull()
  })

  it('is not used where others can write to its parent, and so put another in its place', () => {
    expect(dataFolder(0o777).cacheOf()).toBeNull()
  })

  it('is not used where a link stands in its place', () => {
    const { folder, cacheOf } = dataFolder()
    symlinkSync(testFolder(), join(folder, 'compile-cache'))
    expect(cacheOf()).toBeNull()
  })

  it.runIf(process.getuid?.() === 0)('is not used where it belongs to another user', async () => {
    const { chownSync } = await import('node:fs')
    const { folder, cacheOf } = dataFolder()
    mkdirSync(join(folder, 'compile-cache'), { mode: 0o700 })
    chownSync(join(folder, 'compile-cache'), 12_345, 12_345)
    expect(cacheOf()).toBeNull()
  })

  it('does not exist without a file of our own', () => {
    expect(compileCacheFolder('postgres://ci@db/buildline')).toBeNull()
  })
})
