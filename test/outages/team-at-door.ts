import { expect } from 'vitest'
import type { SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { BUILDS, headlines } from '../app/channel.ts'
import type { Process } from '../support/process.ts'
import { buildOf, delivery, send, until, type Build } from '../support/app.ts'

/** `npm run outages` plays the long ones too. */
export const IS_LONG = process.env['OUTAGES'] === 'all'

/** A generous timeout on a busy machine. */
export const SOON_MS = 60_000

/** Each on its own branch, so that none fixes another. */
export const redBuild = (n: number): Build => buildOf(n, { status: 'error', branch: `fix/${n}` })

/** Sends a failed build for each number at once. @returns the acknowledged ones */
export async function sendRed(url: string, numbers: readonly number[]): Promise<number[]> {
  const answers = await Promise.all(numbers.map((n) => send(url, delivery(redBuild(n)))))
  return numbers.filter((_, i) => answers[i]!.status === 202)
}

/** Sends a failed build until it is acknowledged. */
export const untilTaken = (url: string, n: number): Promise<unknown> =>
  until('the door takes deliveries', async () => (await sendRed(url, [n])).length === 1, SOON_MS)

/** The bot's address, with twice the usual timeout for busy machines. */
export const doorsOf = (bot: Process): Promise<string> => bot.url().catch(() => bot.url())

export interface Ready {
  status: number
  store: string
  slack: string
  wrong?: readonly string[]
}

export async function readyAt(url: string): Promise<Ready> {
  const response = await fetch(`${url}/readyz`)
  return { ...((await response.json()) as Ready), status: response.status }
}

/** Waits until #builds shows exactly these failed builds, each once. */
export async function untilTold(slack: SandboxSlack, numbers: readonly number[]): Promise<void> {
  const wanted = numbers.map((n) => `Failed acme/web #${n}`).toSorted()
  await until(
    `the channel says ${wanted.join(', ')}`,
    () => wanted.every((line) => headlines(slack, BUILDS).includes(line)),
    SOON_MS,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; it says ${JSON.stringify(headlines(slack, BUILDS))}`)
  })
  expect(headlines(slack, BUILDS).toSorted()).toEqual(wanted)
}
