import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const page = readFileSync(new URL('docs/security.md', root), 'utf8')

test('docs/security.md names only tests that exist, and has at most 120 lines', () => {
  const rows = page.split('\n').filter((line) => /^\|.*`[\w/.-]+` *\|$/.test(line))
  expect(rows.length).toBeGreaterThan(20)
  const named = [...rows, ...(page.match(/\(`[^)]*`\)/g) ?? [])].flatMap(
    (text) => text.match(/`[a-z][\w/.-]*`(?=[^`]*$|, `)/g) ?? [],
  )
  const missing = named
    .map((name) => name.slice(1, -1))
    .map((name) => (name.startsWith('packages/') ? name : `test/${name}`))
    .filter((name) => !['.test.ts', '.slow.test.ts'].some((end) => existsSync(new URL(`${name}${end}`, root))))
  expect(missing).toEqual([])
  expect(page.split('\n').length).toBeLessThanOrEqual(121)
})
