/** One line of the table. A goal is a ratio or a count from one attempt; null: told for information. */
export interface Row {
  what: string
  value: string
  goal: string | null
  met: boolean | null
}

export interface Benchmark {
  name: string
  /** what is measured, in one sentence */
  about: string
  run(stage: Stage): Promise<Row[]>
}

/** What all benchmarks of one attempt share. */
export interface Stage {
  /** a folder of the attempt's own, taken away at its end */
  folder: string
  /** where the measured processes leave their CPU profiles; null: they make none */
  profiles: string | null
  /** tells the person who waits what is going on */
  say(text: string): void
  /** a database with so many builds in it, filled once an attempt; the path */
  filled(builds: number): Promise<string>
  /** how many organizations the simulated day plays */
  organizations: number
}

export const atMost = (what: string, value: number, max: number, show: (value: number) => string): Row => ({
  what,
  value: show(value),
  goal: `≤ ${show(max)}`,
  met: value <= max,
})

export const below = (what: string, value: number, max: number, show: (value: number) => string): Row => ({
  what,
  value: show(value),
  goal: `< ${show(max)}`,
  met: value < max,
})

export const atLeast = (what: string, value: number, min: number, show: (value: number) => string): Row => ({
  what,
  value: show(value),
  goal: `≥ ${show(min)}`,
  met: value >= min,
})

/** Nothing of the kind may have happened. */
export const none = (what: string, found: readonly string[]): Row => ({
  what,
  value: found.join(', ') || '0',
  goal: '0',
  met: found.length === 0,
})

export const exactly = (what: string, value: number, wanted: number): Row => ({
  what,
  value: asCount(value),
  goal: asCount(wanted),
  met: value === wanted,
})

export const note = (what: string, value: string): Row => ({ what, value, goal: null, met: null })

export const inMs = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} ms`
export const inS = (value: number): string => `${value.toFixed(2)} s`
export const inMB = (value: number): string => `${value.toFixed(0)} MB`
export const asRatio = (value: number): string => value.toFixed(2)
export const asCount = (value: number): string => Math.round(value).toLocaleString('en-US')
