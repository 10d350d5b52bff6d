import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import {
  createSandboxSlack,
  type SandboxSlack,
  type SandboxSlackOptions,
} from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { openFolder, settingsWith, until, WEBHOOK_SECRET, type Settings } from '../support/app.ts'
import { START } from '../support/start-command.ts'
import { BUILDS } from '../app/channel.ts'

export const PATH = `/webhooks/builds/${WEBHOOK_SECRET}`
export const SLACK_PATH = '/slack/events'

/** The bot as an operator starts it, with its own process and database file, beside a sandbox Slack. */
export interface Bot {
  url: string
  pid: number
  folder: string
  slack: SandboxSlack
  /** all output on its stdout and stderr so far */
  output(): string
  stop(): Promise<void>
}

/** @param through a program that runs the bot, with its arguments, for example a tracer */
export async function startBot(
  settings: Settings = {},
  through: readonly string[] = [],
  slackOptions: SandboxSlackOptions = {},
): Promise<Bot> {
  const slack = createSandboxSlack(slackOptions)
  await slack.start()
  const { folder, remove } = openFolder()
  const env = settingsWith(folder, { SLACK_API_URL: slack.apiUrl, DEFAULT_CHANNEL: BUILDS, ...settings })
  const { PATH: programs, NODE_COMPILE_CACHE } = process.env
  const [program, ...args] = [...through, process.execPath, ...START.options, START.file]
  const child = spawn(program, args, { cwd: folder, env: { PATH: programs, NODE_COMPILE_CACHE, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = new Promise((resolve) => child.once('close', resolve))
  const port = await until('the bot opens its doors', () => {
    if (child.exitCode !== null) throw new Error(`the bot ended:\n${output}`)
    return /"port":(\d+)\D/.exec(output)?.[1]
  })
  const url = `http://127.0.0.1:${port}`
  slack.connectBot(`${url}${SLACK_PATH}`)
  return {
    url,
    pid: child.pid!,
    folder,
    slack,
    output: () => output,
    async stop() {
      child.kill('SIGKILL')
      await ended
      await slack.stop()
      remove()
    },
  }
}

/** The resident memory of a process in MB, as the operating system counts it. */
export const residentMB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024

/** All that the connection answers to these bytes, until the server closes it. */
export function answerTo(url: string, ...pieces: readonly (string | Uint8Array)[]): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.setEncoding('latin1').on('data', (text: string) => (received += text))
    // A reset is one way to close a connection.
    socket.on('error', () => {})
    socket.once('close', () => resolve(received))
    for (const piece of pieces) socket.write(piece)
  })
}

/** The status codes of the answers, in order, without 100. */
export const statusesIn = (received: string): number[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status)).filter((status) => status !== 100)

/** A second request that ends its connection: it shows whether the server read it as a request of its own. */
export const NEXT = 'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'
