import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildOf, delivery, prepareStage, rowsOf, send } from '../support/app.ts'
import { startProcess } from '../support/process.ts'

const [OLD, NEW] = ['door-secret-of-today', 'door-secret-of-tomorrow']

describe('a webhook secret', () => {
  it('is changed by two restarts: in between, the old one and the new one are both valid', async () => {
    const { folder, settings } = await prepareStage({ settings: { WEBHOOK_SECRET: undefined, LOG_LEVEL: 'info' } })
    /** The bot with these secrets of the CI service, GitHub and GitLab in `.env`, and what each sender is answered. */
    async function answered(secrets: readonly string[], sent: string) {
      const of = (source: string) => secrets.map((secret) => `${source}-${secret}`).join()
      writeFileSync(
        join(folder, '.env'),
        `WEBHOOK_SECRET=${of('ci')}\nGITHUB_WEBHOOK_SECRET=${of('github')}\nGITLAB_WEBHOOK_SECRET=${of('gitlab')}\n`,
      )
      const bot = startProcess(folder, settings)
      const url = await bot.url()
      const signature = createHmac('sha256', `github-${sent}`).update('{}').digest('hex')
      const answers = [
        await send(url, delivery(buildOf(++build)), { path: `/webhooks/builds/ci-${sent}` }),
        await send(url, {}, { path: '/webhooks/github', headers: { 'x-hub-signature-256': `sha256=${signature}` } }),
        await send(url, {}, { path: '/webhooks/gitlab', headers: { 'x-gitlab-token': `gitlab-${sent}` } }),
      ]
      bot.kill('SIGTERM')
      await bot.exit
      expect(bot.output()).not.toMatch(/door-secret/)
      return answers.map(({ status }) => status)
    }
    let build = 0
    expect(await answered([OLD], NEW)).toEqual([404, 401, 401])
    expect(await answered([NEW, OLD], OLD)).toEqual([202, 202, 202])
    expect(await answered([NEW, OLD], NEW)).toEqual([202, 202, 202])
    expect(await answered([NEW], OLD)).toEqual([404, 401, 401])
    // Of GitHub and GitLab nothing is stored: no workflow has run.
    expect(rowsOf(folder, 'select 1 from delivery')).toHaveLength(2)
  })
})
