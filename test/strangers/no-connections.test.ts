import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { BUILDS, saidIn } from '../app/channel.ts'
import { buildOf, delivery, openFolder, send, settled, until } from '../support/app.ts'
import { startBot } from './bot.ts'

/** Starts a server that counts who follows an address from a payload. */
async function openTrap(): Promise<{ address: string; port: number; visits: () => number }> {
  let visits = 0
  const server = createServer((socket) => {
    visits += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { address: `http://127.0.0.1:${port}`, port, visits: () => visits }
}

/** A build with the address of the trap in every field that could hold an address. */
const baited = (trap: string) => ({
  status: 'error',
  build_url: `${trap}/build`,
  commit_url: `${trap}/commit`,
  project_name: `${trap}/name`,
  project_full_name: `${trap}/full`,
  branch: `${trap}/branch`,
  message: `<${trap}/message|look> ![picture](${trap}/picture.png)`,
  committer: `${trap}/ada`,
  committer_avatar: `${trap}/avatar.png`,
  avatar_url: `${trap}/avatar.png`,
  callback_url: `${trap}/callback`,
  webhook: { url: `${trap}/hook` },
  response_url: `${trap}/response`,
})

const STRACE = 'strace'
const canTrace = spawnSync(STRACE, ['-V']).status === 0

/** The ports that the process has connected to over IP, as the operating system recorded them. */
const portsIn = (trace: string): number[] =>
  [...trace.matchAll(/connect\(\d+, \{sa_family=AF_INET6?, sin6?_port=htons\((\d+)\)/g)].map(([, port]) => Number(port))

describe('an address in a payload', () => {
  it(`is shown and never followed, so nobody makes the bot open a connection${canTrace ? '' : ' (NOT TRACED: no strace here)'}`, async () => {
    const trap = await openTrap()
    const { folder, remove } = openFolder()
    onTestFinished(remove)
    const trace = join(folder, 'trace')
    const through = canTrace ? [STRACE, '-D', '-f', '-qq', '-e', 'trace=connect', '-o', trace] : []
    const bot = await startBot({}, through)
    onTestFinished(() => bot.stop())
    expect((await send(bot.url, delivery(buildOf(1, baited(trap.address))))).status).toBe(202)
    await send(bot.url, delivery(baited(trap.address)), { headers: { referer: trap.address, origin: trap.address } })
    await send(bot.url, delivery(), { path: `/webhooks/builds/wrong?token=${trap.address}&url=${trap.address}` })
    await until('the card is there', () => saidIn(bot.slack, BUILDS).length > 0)
    await settled(bot.url)
    await bot.slack.people.runCommand({
      user: PEOPLE.lin,
      channel: BUILDS,
      command: '/ci',
      text: `status ${trap.address}`,
    })
    await bot.slack.people.runCommand({
      user: PEOPLE.lin,
      channel: BUILDS,
      command: '/ci',
      text: `badge ${trap.address}`,
    })
    await until('both are answered', () => bot.slack.ephemerals(BUILDS, PEOPLE.lin).length >= 2)
    expect(trap.visits()).toBe(0)
    if (!canTrace) return
    const ports = portsIn(readFileSync(trace, 'utf8'))
    const slackPort = Number(new URL(bot.slack.apiUrl).port)
    expect(new Set(ports)).toEqual(new Set([slackPort]))
  })

  it('would be noticed if the bot followed it', async () => {
    const trap = await openTrap()
    await fetch(trap.address).catch(() => {})
    expect(trap.visits()).toBe(1)
    const line = `1 connect(9, {sa_family=AF_INET, sin_port=htons(${trap.port}), sin_addr=inet_addr("127.0.0.1")}, 16) = 0`
    expect(portsIn(line)).toEqual([trap.port])
    expect(portsIn(line.replace('AF_INET, sin_port', 'AF_INET6, sin6_port'))).toEqual([trap.port])
  })
})
