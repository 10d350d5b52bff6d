import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, test } from 'vitest'

/** Beside the repository: what other services said, recorded by others. It is not part of the repository. */
const BESIDE = fileURLToPath(new URL('../../../shared/data/outside/', import.meta.url))

/** The path of recorded data from outside; null if it is not here. OUTSIDE_DATA names another folder. */
export function outsideData(name: string): string | null {
  const path = join(process.env['OUTSIDE_DATA'] ?? BESIDE, name)
  return existsSync(path) ? path : null
}

/** Tests that read such data. Without it, one skipped test says so. */
export function describeOutside(name: string, title: string, tests: (path: string) => void): void {
  const path = outsideData(name)
  if (path === null) test.skip(`${title} (skipped: no outside data)`)
  else describe(title, () => tests(path))
}
