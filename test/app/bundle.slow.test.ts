import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pushed, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { prepareStage, until } from '../support/app.ts'
import { startProcess } from '../support/process.ts'
import { BUILDS } from './channel.ts'

const DIST = new URL('../../dist/', import.meta.url)

/** The sources in the bundle, found by the comment before each. */
const bundled = readdirSync(DIST)
  .filter((name) => name.endsWith('.js'))
  .flatMap((name) => [...readFileSync(new URL(name, DIST), 'utf8').matchAll(/^\/\/ ((?:node_modules|src)\/\S+)$/gm)])
  .map(([, file]) => file!)

describe('the bundle', () => {
  it('reads the log of a failed job, with the HTTP client that it loads late', async () => {
    const github = await startGithub()
    const { apiUrl, token, webhookSecret } = github.address()
    const { slack, folder, settings } = await prepareStage({
      settings: {
        DEFAULT_CHANNEL: BUILDS,
        GITHUB_WEBHOOK_SECRET: webhookSecret,
        GITHUB_API_URL: apiUrl,
        GITHUB_TOKEN: token,
      },
    })
    github.setWebhookUrl(`${await startProcess(folder, settings).url()}/webhooks/github`)
    const log = 'npm ci\n##[endgroup]\nnpm error code ERESOLVE\n##[error]Process completed with exit code 1.'
    const { id } = pushed(github, { logs: { build: `##[group]Run npm ci\n${log}` } })
    github.finish(id, 'failure', ['build'])
    await until('the thread has its end', () => slack.transcript(BUILDS).includes('npm error code ERESOLVE'))
  })

  it("leaves out zod's languages, which any `import { z }` in src would bring in", () => {
    expect(bundled).toContain('node_modules/zod/v4/core/schemas.js')
    expect(bundled.filter((file) => file.includes('/zod/v4/locales/') && !file.endsWith('/en.js'))).toEqual([])
  })
})
