import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

// The first is Debian's smallest: it has no window, and takes a third of the processor time.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The browser's own file: as CHROMIUM says, else the first on the PATH; null where this machine has none. */
export function findChromium({ CHROMIUM, PATH = '' }: Readonly<Record<string, string | undefined>>): string | null {
  if (CHROMIUM) return CHROMIUM
  const files = NAMES.flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name)))
  return files.find((file) => existsSync(file)) ?? null
}

/** As root it runs without its own sandbox: what it opens is ours. */
export const LAUNCH_ARGS = ['--no-sandbox', '--disable-gpu']
