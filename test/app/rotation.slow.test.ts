import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildOf, delivery, prepareStage, rowsOf, send, until } from '../support/app.ts'
import { startProcess } from '../support/process.ts'

const [OLD, NEW] = ['door-secret-of-today', 'door-secret-of-tomorrow']

async function openStage() {
  const { folder, settings } = await prepareStage({ settings: { WEBHOOK_SECRET: undefined, LOG_LEVEL: 'info' } })
  const write = (secrets: string) => writeFileSync(join(folder, '.env'), `WEBHOOK_SECRET=${secrets}\n`)
  write(OLD)
  const bot = startProcess(folder, settings)
  const url = await bot.url()
  let build = 0
  return {
    folder,
    bot,
    write,
    deliver: async (secret: string) =>
      (await send(url, delivery(buildOf(++build)), { path: `/webhooks/builds/${secret}` })).status,
    /** Whether the log says that the settings were read so often. */
    hasRead: (times: number, words = 'read again') =>
      until(`${times} × ${words}`, () => bot.output().split(words).length > times),
  }
}

describe('a webhook secret', () => {
  it('can be changed while deliveries arrive, without refusing any', async () => {
    const { folder, bot, write, deliver, hasRead } = await openStage()
    const over = new AbortController()
    let secret = OLD
    const answers: number[] = []
    const sender = (async () => {
      while (!over.signal.aborted) answers.push(await deliver(secret))
    })()
    expect(await deliver(NEW)).toBe(404)
    write(`${NEW},${OLD}`)
    bot.kill('SIGUSR2')
    await hasRead(1)
    secret = NEW
    const some = answers.length
    await until('the sender has sent with the new one', () => answers.length > some + 5)
    write(NEW)
    bot.kill('SIGUSR2')
    await hasRead(2)
    expect(await deliver(OLD)).toBe(404)
    over.abort()
    await sender
    expect(answers.filter((status) => status !== 202)).toEqual([])
    expect(rowsOf(folder, 'select 1 from delivery')).toHaveLength(answers.length)
    // The log is searched for all secrets that were ever valid.
    expect(bot.output()).not.toMatch(/door-secret/)
  })

  it('of GitHub and of GitLab can be changed, too', async () => {
    const { bot, write, hasRead } = await openStage()
    const url = await bot.url()
    const [github, gitlab] = ['github-secret-of-tomorrow', 'gitlab-secret-of-tomorrow']
    const statuses = async () => {
      const signature = createHmac('sha256', github).update('{}').digest('hex')
      const answers = [
        await send(url, {}, { path: '/webhooks/github', headers: { 'x-hub-signature-256': `sha256=${signature}` } }),
        await send(url, {}, { path: '/webhooks/gitlab', headers: { 'x-gitlab-token': gitlab } }),
      ]
      return answers.map(({ status }) => status)
    }
    const writeHosts = (secrets: readonly [string, string]) =>
      write(`${OLD}\nGITHUB_WEBHOOK_SECRET=${secrets[0]}\nGITLAB_WEBHOOK_SECRET=${secrets[1]}`)
    writeHosts(['github-secret-of-today', 'gitlab-secret-of-today'])
    bot.kill('SIGUSR2')
    await hasRead(1)
    expect(await statuses()).toEqual([401, 401])
    writeHosts([`${github},github-secret-of-today`, `${gitlab},gitlab-secret-of-today`])
    bot.kill('SIGUSR2')
    await hasRead(2)
    // They are accepted, and not stored: no workflow has run.
    expect(await statuses()).toEqual([202, 202])
    expect(bot.output()).not.toMatch(/secret-of-to/)
  })

  it('stays the same if the new settings have a fault, which is named', async () => {
    const { bot, write, deliver, hasRead } = await openStage()
    write(`${NEW}\nRETENTION_DAYS=many`)
    bot.kill('SIGUSR2')
    await hasRead(1, 'stay as they were')
    expect([await deliver(OLD), await deliver(NEW)]).toEqual([202, 404])
    expect(bot.output()).not.toMatch(/door-secret/)
  })
})
