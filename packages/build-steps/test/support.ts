import { spawn } from 'node:child_process'
import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { StubAnswer, StubRequest } from '../../../test/support/http-stub.ts'
import { startHttpStub } from '../../../test/support/http-stub.ts'
import { buildline } from '../src/commands.js'
import { serviceRestartBuild } from '../src/restart/program.js'

export const FOLDER = fileURLToPath(new URL('../src/', import.meta.url))

export const PROGRAMS = { service_restart_build: 'service-restart-build.js', buildline: 'buildline.js' } as const

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

interface Surroundings {
  env?: Readonly<Record<string, string | undefined>>
  cwd?: string
}

/** Runs a program to its end with only PATH and this environment. It is killed if the test ends first. */
export function run(command: string, args: readonly string[], { env = {}, cwd }: Surroundings = {}): Promise<Ended> {
  const child = spawn(command, args, { env: { PATH: process.env['PATH'], ...env }, cwd })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (ended[name] += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...ended }))
  })
}

/** Runs one of the two programs in this process, as its file does in one of its own. */
export async function runProgram(
  program: keyof typeof PROGRAMS,
  args: readonly string[],
  { env = {}, cwd = process.cwd() }: Surroundings = {},
): Promise<Ended> {
  const ended = { stdout: '', stderr: '' }
  const [stdout, stderr] = (['stdout', 'stderr'] as const).map(
    (name) =>
      new Writable({
        decodeStrings: false,
        write(text: string, _, done) {
          ended[name] += text
          done()
        },
      }),
  )
  const home = process.cwd()
  process.chdir(cwd)
  try {
    const code = await MAINS[program]({ argv: ['node', program, ...args], env, stdout: stdout!, stderr: stderr! })
    return { code, ...ended }
  } finally {
    process.chdir(home)
  }
}

const MAINS = { service_restart_build: serviceRestartBuild, buildline }

/** Runs the file of one of the two programs, with the Node that runs the tests. */
export const startProgram = (
  program: keyof typeof PROGRAMS,
  args: readonly string[],
  surroundings?: Surroundings,
  nodeFlags: readonly string[] = [],
): Promise<Ended> => run(process.execPath, [...nodeFlags, `${FOLDER}${PROGRAMS[program]}`, ...args], surroundings)

/** A stub that stops with the test. */
export async function openStub(play: (request: StubRequest, at: number) => StubAnswer) {
  const stub = await startHttpStub(play)
  onTestFinished(() => stub[Symbol.asyncDispose]())
  return stub
}

/** A local address on which no server listens. */
export async function closedAddress(): Promise<string> {
  const stub = await startHttpStub(() => ({}))
  await stub[Symbol.asyncDispose]()
  return stub.url
}
