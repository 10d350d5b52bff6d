import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { COMMANDS } from '../../src/listeners/commands/index.ts'
import { commandDocs } from '../../src/tools/command-docs/page.ts'

it('docs/commands.md says what the code says (if not: npm run docs)', () => {
  const page = commandDocs(COMMANDS)
  for (const { name } of COMMANDS) expect(page).toContain(`## \`/ci ${name}\``)
  expect(readFileSync(new URL('../../docs/commands.md', import.meta.url), 'utf8')).toBe(page)
})
