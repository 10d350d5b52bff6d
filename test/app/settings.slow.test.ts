import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { delivery, openStage, send, settingsWith, testFolder } from '../support/app.ts'
import { startProcess } from '../support/process.ts'

const EXIT_CONFIG = 78

const byWord = (a = '', b = ''): number => a.localeCompare(b)

describe('the process with bad settings', () => {
  it('lists all faults at once in words, prints no secret, and exits with 78', async () => {
    const folder = testFolder()
    const bot = startProcess(folder, {
      PORT: 'canary-port',
      SLACK_SIGNING_SECRET: 'canary-signing',
      CI_AUTHORIZATION: 'canary-authorization',
      DATABASE_URL: 'mysql://ada:canary-password@db/x',
      DEFAULT_CHANNEL: '#builds',
      LOG_LEVEL: 'canary-level',
      SUBSCRIPTIONS_FILE: 'missing.yml',
    })
    expect(await bot.exit).toEqual({ code: EXIT_CONFIG, signal: null })
    const named = [...bot.output().matchAll(/^ {2}- (\w+)/gm)].map(([, name]) => name)
    expect(named.toSorted(byWord)).toEqual(
      [
        'CI_BASE_URL',
        'DATABASE_URL',
        'DEFAULT_CHANNEL',
        'LOG_LEVEL',
        'PORT',
        'SLACK_BOT_TOKEN',
        'SUBSCRIPTIONS_FILE',
        'WEBHOOK_SECRET',
      ].toSorted(byWord),
    )
    expect(bot.output()).not.toContain('canary')
    expect(bot.output()).not.toMatch(/\bat .*\.[jt]s:\d+/)
  })

  it('says in one sentence that the database is invalid, and nothing else', async () => {
    const folder = testFolder()
    writeFileSync(join(folder, 'other.db'), 'this is no database, and long enough to be looked at as one'.repeat(20))
    const bot = startProcess(folder, { ...settingsWith(folder), DATABASE_URL: `sqlite:${join(folder, 'other.db')}` })
    expect(await bot.exit).toMatchObject({ code: EXIT_CONFIG })
    expect(bot.output()).toContain('DATABASE_URL: the database cannot be opened')
    expect(bot.output()).not.toMatch(/\bat .*\.[jt]s:\d+/)
  })

  it('blames no setting if the disk is full, and exits with 1, so that it is started again', async () => {
    const folder = testFolder()
    const bot = startProcess(folder, { ...settingsWith(folder), DATABASE_URL: 'sqlite:/dev/full' })
    expect(await bot.exit).toEqual({ code: 1, signal: null })
    expect(bot.output()).toContain('the database cannot be opened: database or disk is full. Is the disk full?')
    expect(bot.output()).not.toContain('cannot start')
  })

  it('says in one sentence which port is taken, and what to do', async () => {
    const { app } = await openStage()
    const folder = testFolder()
    const { port } = new URL(app.url)
    const bot = startProcess(folder, settingsWith(folder, { PORT: port }))
    expect(await bot.exit).toEqual({ code: EXIT_CONFIG, signal: null })
    expect(bot.output()).toContain(`- port ${port} is taken by another program: free it, or set PORT`)
    expect(bot.output()).not.toMatch(/\bat .*\.[jt]s:\d+/)
  })

  it('creates no database', async () => {
    const folder = testFolder()
    const bot = startProcess(folder, { ...settingsWith(folder), WEBHOOK_SECRET: '' })
    expect(await bot.exit).toMatchObject({ code: EXIT_CONFIG })
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('a file .env', () => {
  it('is read from the folder in which the process starts', async () => {
    const folder = testFolder()
    const lines = Object.entries(settingsWith(folder, { WEBHOOK_SECRET: 'secret-of-the-file' }))
    writeFileSync(join(folder, '.env'), lines.map(([name, value]) => `${name}=${value}`).join('\n'))
    const url = await startProcess(folder, {}).url()
    expect((await send(url, delivery(), { path: '/webhooks/builds/secret-of-the-file' })).status).toBe(202)
  })

  it('does not override the environment', async () => {
    const folder = testFolder()
    writeFileSync(join(folder, '.env'), 'WEBHOOK_SECRET=secret-of-the-file')
    const url = await startProcess(folder, settingsWith(folder, { WEBHOOK_SECRET: 'secret-of-the-shell' })).url()
    expect((await send(url, delivery(), { path: '/webhooks/builds/secret-of-the-shell' })).status).toBe(202)
    expect((await send(url, delivery(), { path: '/webhooks/builds/secret-of-the-file' })).status).toBe(404)
  })
})
