import { readFileSync } from 'node:fs'

// Loaded before the program. To set this machine's clock, write an offset in ms into the file and send SIGUSR2.
const { CLOCK_FILE } = process.env
const Real = Date
let aheadMs = 0

class SetDate extends Real {
  constructor(...parts: unknown[]) {
    if (parts.length === 0) super(Real.now() + aheadMs)
    else super(...(parts as [number]))
  }

  static override now(): number {
    return Real.now() + aheadMs
  }
}

globalThis.Date = SetDate as DateConstructor
if (CLOCK_FILE) process.on('SIGUSR2', () => void (aheadMs = Number(readFileSync(CLOCK_FILE, 'utf8'))))
