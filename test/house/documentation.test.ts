import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readGroups } from '../../packages/demo/src/gallery/entries.ts'
import { PICTURES_FOLDER, SOURCES_FILE, sourcesOf } from '../../packages/demo/src/gallery/pictures.ts'
import { GOLDEN } from '../../packages/demo/src/gallery/site.ts'
import { readConfig } from '../../src/config/config.ts'
import { ROOT } from './imports.ts'

const PICTURE_BYTES_MAX = 250_000
const README_LINES_MAX = 160
const MAP_LINES_MAX = 110

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: ROOT, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((page) => existsSync(join(ROOT, page)))

describe('the pictures of the documentation', () => {
  const sources: object = JSON.parse(readFileSync(SOURCES_FILE, 'utf8'))

  it('show what the bot says now (if not: npm run gallery -- --pictures)', () => {
    expect(sourcesOf(readGroups(GOLDEN))).toEqual(sources)
  })

  it('are older than a message of theirs once a word of it changes, and no older for the words of others', () => {
    const text = JSON.stringify(readGroups(GOLDEN))
    const changed = (word: string) => sourcesOf(JSON.parse(text.replaceAll(word, 'Another')))
    for (const word of ['Restart', 'npm error', '94% passed']) expect(changed(word)).not.toEqual(sources)
    expect(changed('Unsubscribed')).toEqual(sources)
  })

  it('are all linked, all taken by the command, and small', () => {
    const files = readdirSync(PICTURES_FOLDER).filter((file) => file !== basename(SOURCES_FILE))
    const linked = pages.flatMap((page) => linksOf(page).filter((link) => link.endsWith('.png')))
    expect(files.toSorted()).toEqual([...new Set(linked.map((link) => basename(link)))].toSorted())
    expect(files.toSorted()).toEqual(Object.keys(sources).toSorted())
    for (const file of files) expect(statSync(join(PICTURES_FOLDER, file)).size).toBeLessThan(PICTURE_BYTES_MAX)
  })
})

describe('the README', () => {
  const blocks = [...read('README.md').matchAll(/^ *```sh\n([^`]*SLACK_BOT_TOKEN[^`]*)```/gm)].map(
    ([, block]) => block!,
  )

  it('has a block of .env for each source, and the bot starts with it once it is filled in', () => {
    const slack = { appToken: expect.any(String) }
    expect(blocks.map((block) => readConfig(filledIn(parseEnv(block))))).toMatchObject([
      { config: { slack, github: { token: expect.any(String), repositories: ['acme/web', 'acme/api'] } } },
      { config: { slack, gitlab: { token: expect.any(String), projects: ['acme/web', 'acme/api'] } } },
      { config: { slack, ci: { v2: {}, legacy: {}, siteUrl: expect.any(String) }, webhookSecrets: [FILLING] } },
    ])
  })

  it('has in each block what its source needs: one that lacks a line of its own does not start', () => {
    for (const [at, name] of ['GITHUB_TOKEN', 'GITLAB_TOKEN', 'CI_API_KEY'].entries()) {
      const block = blocks[at]!.replace(new RegExp(`${name}=.*`), '')
      expect(readConfig(filledIn(parseEnv(block)))).not.toHaveProperty('config')
    }
  })

  it('is short', () => {
    expect(read('README.md').split('\n').length - 1).toBeLessThanOrEqual(README_LINES_MAX)
  })
})

describe('the map of the code', () => {
  const map = read('docs/architecture.md')

  it('fits on two screens', () => {
    expect(map.split('\n').length - 1).toBeLessThanOrEqual(MAP_LINES_MAX)
  })

  it('names files and folders that are there', () => {
    const named = [...map.matchAll(/`([a-z-]+(?:\/[a-z-]+)+(?:\.tsx?)?)\/?`/g)].map(([, path]) => path!)
    expect(named.length).toBeGreaterThan(40)
    expect(named.filter((path) => !isThere(path))).toEqual([])
    expect(isThere('domain/cards/nothing')).toBe(false)
  })
})

describe('a link of the documentation', () => {
  it('leads to a file, and to a heading that the file has', () => {
    const dead = pages.flatMap((page) =>
      linksOf(page)
        .filter((link) => !leadsSomewhere(page, link))
        .map((link) => `${page}: ${link}`),
    )
    expect(dead).toEqual([])
  })

  it('is dead if the file or the heading is missing', () => {
    expect(leadsSomewhere('README.md', 'docs/nothing.md')).toBe(false)
    expect(leadsSomewhere('README.md', 'docs/github.md#nothing')).toBe(false)
    expect(leadsSomewhere('docs/github.md', '#the-token')).toBe(true)
  })
})

/** A path of the map is below `src` or at the root, with or without its ending. */
const isThere = (path: string): boolean =>
  [`src/${path}`, `src/${path}.ts`, path].some((file) => existsSync(join(ROOT, file)))

/** The places within the repository that a page links. */
const linksOf = (page: string): string[] =>
  [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!).filter((link) => !/^<?[a-z]+:/.test(link))

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const file = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(ROOT, file))) return false
  return heading === undefined || anchorsOf(read(file)).includes(heading)
}

/** As GitHub makes them of headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

/** What is one's own ends with `…`. */
const filledIn = (block: NodeJS.Dict<string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(block).map(([name, value = '']) => [
      name,
      value.replace(/^https:..…/, 'https://ci.example').replace('…', FILLING),
    ]),
  )

const FILLING = '0123456789abcdef01234567'
