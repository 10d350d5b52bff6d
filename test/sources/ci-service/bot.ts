import { onTestFinished } from 'vitest'
import type { RunningApp, Settings } from '../../support/app.ts'
import { databaseBytes, rowsOf, settingsWith, startApp, testFolder } from '../../support/app.ts'

/** A text in refused bodies, which must not be found anywhere afterwards. */
export const CANARY = 'canary-7f3a-never-stored'

export interface Door {
  url: string
  app: RunningApp
  folder: string
}

/** The app with an open endpoint and no subscriptions. */
export async function openDoor(changes: Settings = {}): Promise<Door> {
  const folder = testFolder()
  const app = await startApp(settingsWith(folder, changes))
  onTestFinished(() => app.stop())
  return { url: app.url, app, folder }
}

const TABLES = ['delivery', 'fact', 'intake', 'decision', 'card', 'message', 'report'] as const

/** What deliveries have left behind: the row count of each table with rows, and where the canary was found. */
export function traces({ folder }: Door): string[] {
  const counts = TABLES.map((table) => ({ table, rows: rowsOf(folder, `select * from ${table}`).length }))
  const filled = counts.filter(({ rows }) => rows > 0).map(({ table, rows }) => `${table}: ${rows}`)
  return [...filled, ...(databaseBytes(folder).includes(CANARY) ? ['the canary, in the bytes of the file'] : [])]
}

export const deliveriesIn = ({ folder }: Door): Record<string, unknown>[] =>
  rowsOf(folder, 'select * from delivery order by id')

export const buildEventsIn = ({ folder }: Door): Record<string, unknown>[] =>
  rowsOf(folder, 'select * from fact order by seq')
