import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/config/config.ts'
import { describedFeatures } from '../../../src/features/features.ts'
import { commandDocs } from '../src/docs/commands.ts'
import { PAGES, pathOf } from '../src/docs/pages.ts'
import { SETTINGS } from '../src/docs/settings.ts'

const { commands: COMMANDS } = describedFeatures()

describe('the documentation', () => {
  it.each(PAGES)('$path says what the code says (if not: npm run docs)', async (page) => {
    const is = readFileSync(pathOf(page), 'utf8')
    expect(is).toBe(await page.write(is))
  })

  it('has a part for each command', async () => {
    const page = await commandDocs(COMMANDS)
    for (const { name } of COMMANDS) expect(page).toContain(`## \`/ci ${name}\``)
  })

  it('names each setting that is read, and no other', () => {
    const asked = new Set<string>()
    const all = { CI_BASE_URL: 'https://ci.example.com', CI_TOKEN_URL: 'https://ci.example.com/token' }
    for (const given of [{}, all])
      readConfig(
        new Proxy<Record<string, string>>(given, {
          get(target, name) {
            asked.add(String(name))
            return target[String(name)]
          },
        }),
      )
    expect([...asked].toSorted()).toEqual(SETTINGS.flatMap(({ names }) => names).toSorted())
  })
})
