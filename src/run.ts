import { createApp } from './app.ts'
import { readConfig, secretsOf } from './config/config.ts'
import { withEnvFile } from './config/environment.ts'
import { forTerminal } from './lib/escape.ts'
import { isDiskFault } from './store/disk.ts'
import { listenFault } from './http/http-server.ts'
import { createLogger, standardOutput } from './http/logger.ts'

/** BSD's EX_CONFIG: the configuration is wrong, so starting again will not help. */
const EXIT_CONFIG = 78

/** After this time a hanging stop ends the process anyway. Nothing is lost. */
const STOP_MAX_MS = 12_000

/** Reads the configuration, starts, and stops on SIGTERM or SIGINT. */
export async function run(): Promise<void> {
  const reading = readConfig(withEnvFile(process.env))
  if (reading.kind === 'faults') return refuse(reading.faults)
  const { config } = reading
  const log = createLogger(config.logLevel, secretsOf(config), standardOutput())
  const app = await createApp(config, log).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : 'unknown error'
    if (isDiskFault(error)) {
      log.fatal({ err: error }, `the database cannot be opened: ${why}. Is the disk full?`)
      process.exit(1)
    }
    return refuse([
      `DATABASE_URL: the database cannot be opened: ${why}. Is its folder there, and may this user write to it?`,
    ])
  })
  if (!app) return
  let isStopping = false
  const stop = (signal: NodeJS.Signals) => {
    if (isStopping) return
    isStopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(0), STOP_MAX_MS).unref()
    app.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the stop failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  await app.start().catch((error: unknown) => {
    const fault = listenFault(error, config.port)
    if (fault !== null) return refuse([`${fault}: free it, or set PORT, METRICS_PORT or HOST to another`])
    log.fatal({ err: error }, 'buildline could not start')
    process.exit(1)
  })
}

function refuse(faults: readonly string[]): void {
  process.stderr.write(`buildline cannot start. Fix ${faults.length === 1 ? 'this setting' : 'these settings'}:\n`)
  for (const fault of faults) process.stderr.write(`  - ${forTerminal(fault)}\n`)
  process.stderr.write('Settings come from the environment or from a file .env; docs/settings.md lists them all.\n')
  process.exit(EXIT_CONFIG)
}
