import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Client } from 'pg'
import { parse } from 'yaml'
import { z } from 'zod'
import { readConfig } from '../../src/config/config.ts'
import { START } from '../support/start-command.ts'

const SERVICE = z.object({
  environment: z.record(z.string(), z.coerce.string()),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  stop_grace_period: z.string().optional(),
})
const COMPOSE = z.object({
  services: z.object({ bot: SERVICE, postgres: SERVICE }),
  volumes: z.record(z.string(), z.null()),
})

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const { services, volumes } = COMPOSE.parse(parse(read('compose.yaml')))

const SETTINGS = {
  SLACK_BOT_TOKEN: 'xoxb-1-2-ofthebuilds',
  SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
  WEBHOOK_SECRET: 'door-secret-of-today',
}

describe('compose.yaml', () => {
  test('starts a bot with known settings, and the database that these name', () => {
    const { environment } = services.bot
    const given: Record<string, string> = { ...SETTINGS, ...environment }
    const { POSTGRES_USER: user, POSTGRES_DB: name } = services.postgres.environment
    // Whatever .env has, and even if the bot listened to this machine alone before.
    const reading = readConfig({ HOST: '127.0.0.1', POSTGRES_PASSWORD: 'a/b+c=d#e%2F@:?', ...given })
    expect(reading).toMatchObject({ kind: 'config', config: { port: 3000, host: '0.0.0.0' } })
    const { url } = (reading as { config: { database: { url: string } } }).config.database
    expect(new Client({ connectionString: url })).toMatchObject({ host: 'postgres', user, database: name })
    expect(new Client({ connectionString: url }).password).toBe('a/b+c=d#e%2F@:?')
    for (const setting of Object.keys(environment)) expect(read('docs/settings.md')).toContain(`\`${setting}\``)
  })

  test('gives a stop more time than it may take, and uses the port of the image', () => {
    const stopMaxMs = Number(/STOP_MAX_MS = (\d+)_000/.exec(read('src/run.ts'))?.[1])
    expect(Number.parseInt(services.bot.stop_grace_period ?? '', 10)).toBeGreaterThan(stopMaxMs)
    expect(services.bot.ports.map((port) => port.split(':').at(-1))).toEqual([
      /^EXPOSE (\d+)$/m.exec(read('Dockerfile'))?.[1],
    ])
  })

  test('keeps the database in a volume, and no password in the file', () => {
    expect(services.postgres.volumes.map((volume) => volume.split(':')[0])).toEqual(Object.keys(volumes))
    expect(services.postgres.environment['POSTGRES_PASSWORD']).toMatch(/^\$\{POSTGRES_PASSWORD:\?/)
  })

  test('runs the bot as `npm start` does', () => {
    const { options } = START
    expect(/^CMD (.*)$/m.exec(read('Dockerfile'))?.[1]).toBe(
      JSON.stringify(['node', ...options, 'dist/main.js']).replaceAll(',', ', '),
    )
  })

  test('has the programs of the build steps on the image’s path, as their package names them', () => {
    const { bin } = z
      .object({ bin: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('packages/build-steps/package.json')))
    const links = read('Dockerfile').matchAll(/ln -s \/app\/packages\/build-steps\/(\S+) \/usr\/local\/bin\/(\S+)/g)
    expect(Object.fromEntries(Array.from(links, ([, file, name]) => [name, file]))).toEqual(bin)
  })

  test('opens no port to other machines', () => {
    expect(services.bot.ports.every((port) => port.startsWith('127.0.0.1:'))).toBe(true)
    expect(services.postgres.ports).toEqual([])
  })
})
