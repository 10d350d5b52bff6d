import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The measured server has a core to itself; whatever loads it shares the other one. */
export const SERVER_CORE = 0
export const LOAD_CORE = 1
export const CORES = availableParallelism()
/** For what shares the machine as it would without us. */
export const ALL_CORES = `0-${CORES - 1}`

const READY_MAX_MS = 15_000
const READY_LOOK_MS = 10
const STOP_MAX_MS = 20_000
const LAST_WORDS_CHARS = 2_000

export const canPin = CORES > 1 && spawnSync('taskset', ['-V']).status === 0

/** Keeps this process, and so what it starts, off the server's core; or where it is told to be. */
export function pinSelf(cores: string | number = LOAD_CORE): void {
  if (canPin) execFileSync('taskset', ['-p', '-c', String(cores), String(process.pid)], { stdio: 'ignore' })
}

export interface ServerProcess {
  pid: number
  port: number
  /** the end of its log */
  lastWords(): string
  /** It does nothing at all while this goes on: what it has to catch up with must not slow who is measured meanwhile. */
  asleep<T>(meanwhile: () => Promise<T>): Promise<T>
  /** asks it to end, and waits until it has */
  stop(): Promise<void>
}

export interface Started {
  /** Node's own */
  options?: readonly string[]
  file: string
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
  port: number
  /** where it may run; left out: on the server's core */
  cores?: string | undefined
  /** it runs here and writes its log here, as `name`.log */
  folder: string
  name: string
  profiles: string | null
}

/** An attempt that breaks off leaves nothing behind. */
const started = new Set<ChildProcess>()
process.once('exit', () => started.forEach((child) => child.kill('SIGKILL')))

/** Starts a server of ours on the server's core; it need not answer yet. */
export function startServer({
  options = [],
  file,
  args = [],
  env = {},
  port,
  cores,
  folder,
  name,
  profiles,
}: Started): ServerProcess {
  const profiling = profiles ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${name}.cpuprofile`] : []
  const log = join(folder, `${name}.log`)
  const fd = openSync(log, 'a')
  const child = spawnNode([...profiling, ...options, file, ...args], cores ?? SERVER_CORE, {
    cwd: folder,
    stdio: ['ignore', fd, fd],
    env: { ...inherited(), ...env, PORT: String(port) },
  })
  const lastWords = () => readFileSync(log, 'utf8').slice(-LAST_WORDS_CHARS)
  started.add(child)
  return {
    pid: child.pid!,
    port,
    lastWords,
    async asleep(meanwhile) {
      child.kill('SIGSTOP')
      return meanwhile().finally(() => child.kill('SIGCONT'))
    },
    stop: () => stop(child, lastWords),
  }
}

/** Resolves when the server answers HTTP at all. */
export async function untilUp({ port, lastWords }: ServerProcess): Promise<void> {
  const until = performance.now() + READY_MAX_MS
  while (!(await answers(port))) {
    if (performance.now() > until) throw new Error(`a server did not come up:\n${lastWords()}`)
    await sleep(READY_LOOK_MS)
  }
}

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/healthz`).then(
    async (response) => (await response.text()) !== '',
    () => false,
  )

/** Runs a script of ours to its end. @returns what it printed */
export async function runToEnd(file: string, args: readonly string[], core: number): Promise<string> {
  const child = spawnNode([file, ...args], core, { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout!.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${file} ended with ${code}`)
  return printed
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || !address) throw new Error('there is no free port')
  return address.port
}

/** Processor time that all threads of a process have taken (ms), to the nanosecond; NaN where the machine does not tell. */
export function cpuMs(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadMs(pid, thread), 0)
  } catch {
    return Number.NaN
  }
}

/**
 * Processor time that the main thread of a process has taken (ms), to the nanosecond; where the machine does not tell, the
 * time that has passed.
 */
export function mainThreadMs(pid: number): number {
  try {
    return threadMs(pid, pid)
  } catch {
    return performance.now()
  }
}

const threadMs = (pid: number, thread: number | string): number =>
  Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6

/** Resident memory of a process, in MB. */
export const residentMB = (pid: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1_024

const spawnNode = (
  args: readonly string[],
  core: number | string,
  options: Parameters<typeof spawn>[2],
): ChildProcess =>
  canPin
    ? spawn('taskset', ['-c', String(core), process.execPath, ...args], options)
    : spawn(process.execPath, args, options)

/** Nothing of this machine's settings may reach what is measured. */
const inherited = () => ({ PATH: process.env['PATH'] ?? '', TMPDIR: process.env['TMPDIR'] ?? '/tmp' })

async function stop(child: ChildProcess, lastWords: () => string): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) throw new Error(`a server ended by itself:\n${lastWords()}`)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS)
  await ended
  clearTimeout(timer)
}
