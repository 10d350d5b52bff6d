import { spawn } from 'node:child_process'

/** Where the program runs, as far as it decides whether somebody sits there. */
export interface Surroundings {
  platform: NodeJS.Platform
  env: Readonly<Record<string, string | undefined>>
  isTerminal: boolean
}

/**
 * The command that opens an address in the person's browser; null in CI, without a terminal, and without a display.
 */
export function commandToOpen(url: string, { platform, env, isTerminal }: Surroundings): [string, string[]] | null {
  const isCi = env['CI'] !== undefined && env['CI'] !== '' && env['CI'] !== 'false'
  if (isCi || !isTerminal) return null
  if (platform === 'darwin') return ['open', [url]]
  if (platform === 'win32') return ['cmd', ['/c', 'start', '', url]]
  const hasDisplay = [env['DISPLAY'], env['WAYLAND_DISPLAY']].some((display) => display !== undefined && display !== '')
  return hasDisplay ? ['xdg-open', [url]] : null
}

/** Shows the address where somebody would see it. Where that does not work, it still stands in the terminal. */
export function openAddress(url: string, surroundings: Surroundings): void {
  const command = commandToOpen(url, surroundings)
  if (!command) return
  const [file, args] = command
  spawn(file, args, { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref()
}
