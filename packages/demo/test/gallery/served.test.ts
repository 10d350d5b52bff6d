import { expect, it, onTestFinished } from 'vitest'
import { createSandboxSlack } from '../../../sandbox-slack/src/sandbox-slack.ts'
import { GOLDEN, keptGallery } from '../../src/gallery/site.ts'

async function open(options: Parameters<typeof createSandboxSlack>[0]) {
  const slack = createSandboxSlack(options)
  await slack.start()
  onTestFinished(() => slack.stop())
  return (path: string) => fetch(new URL(path, slack.url))
}

it('the demo’s page has the gallery beneath /gallery/, with all that it loads, under the page’s own policy', async () => {
  const get = await open({ gallery: keptGallery(GOLDEN) })
  const page = await get('/gallery')
  expect(new URL(page.url).pathname).toBe('/gallery/')
  expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
  const loaded = [...(await page.text()).matchAll(/(?:src|href)="([\w.-]+)"/g)].map(([, name]) => name!)
  expect(loaded.toSorted()).toEqual(['entries.js', 'gallery.css', 'gallery.js'])
  for (const name of loaded) expect((await get(`/gallery/${name}`)).status).toBe(200)
  expect(await (await get('/gallery/entries.js')).text()).toContain('messages/card-failed')
  expect((await get('/gallery/nothing.js')).status).toBe(404)
})

it('a sandbox that has none says that it is not there', async () => {
  const get = await open({})
  expect((await get('/gallery/')).status).toBe(404)
})
