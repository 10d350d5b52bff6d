import { request } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandboxCi } from '../../../sandbox-ci/src/server.ts'
import { createSandboxGithub } from '../../../sandbox-github/src/server.ts'
import { createSandboxSlack } from '../../../sandbox-slack/src/sandbox-slack.ts'

/** Asks under another name, as a browser does once a page's own name was made to point here. */
function statusUnder(host: string, url: string, method: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, headers: { host, origin: `http://${host}`, ...headers } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    asking.on('upgrade', (_, socket) => {
      socket.destroy()
      resolve(101)
    })
    asking.on('error', reject).end()
  })
}

async function openSlack(host?: string) {
  const slack = createSandboxSlack()
  await slack.start(0, host)
  onTestFinished(() => slack.stop())
  return { url: slack.url, page: '/', control: '/sandbox/faults' }
}

async function openCi(host?: string) {
  const ci = createSandboxCi()
  const url = await ci.start(0, host)
  onTestFinished(() => ci.stop())
  return { url, page: '/sandbox', control: '/sandbox/faults' }
}

async function openGithub(host?: string) {
  const github = createSandboxGithub()
  const url = await github.start(0, host)
  onTestFinished(() => github.stop())
  return { url, page: '/sandbox', control: '/sandbox/fail' }
}

describe.each([
  ['the sandbox Slack, with its page', openSlack],
  ['the sandbox CI', openCi],
  ['the sandbox GitHub', openGithub],
])('%s', (_, open) => {
  test('answers no page whose name was made to point here (DNS rebinding), GETs included', async () => {
    const { url, page, control } = await open()
    const { port } = new URL(url)
    for (const host of [
      `evil.example:${port}`,
      'evil.example',
      '127.0.0.1.evil.example',
      '0.0.0.0',
      `10.0.0.1:${port}`,
    ])
      for (const method of ['GET', 'POST'])
        for (const path of [page, control])
          expect([host, await statusUnder(host, url + path, method)]).toEqual([host, 403])
  })

  test('answers under the names of this machine alone', async () => {
    const { url, page } = await open()
    const { port } = new URL(url)
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`])
      expect([host, (await statusUnder(host, url + page, 'GET')) < 400]).toEqual([host, true])
  })

  test('answers under the name that it was told to listen on', async () => {
    const { url, page } = await open('127.0.0.2')
    expect(await statusUnder(new URL(url).host, url + page, 'GET')).toBeLessThan(400)
    expect(await statusUnder('127.0.0.3', url + page, 'GET')).toBe(403)
  })
})

test('the sandbox Slack opens no socket under another name', async () => {
  const { url } = await openSlack()
  const upgrade = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'x',
  }
  expect(await statusUnder('evil.example', `${url}/link?ticket=1`, 'GET', upgrade)).toBe(403)
})
