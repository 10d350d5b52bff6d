import { COMMANDS } from '../../../../src/features/commands.ts'
import { commandDocs } from './commands.ts'
import { metricTable } from './metrics.ts'
import { settingTable } from './settings.ts'
import { statusTable } from './statuses.ts'

/** A page of the documentation that is made from the code, whole or in a part of it. */
export interface Page {
  path: string
  /** @returns the page as it should be, given as it is */
  write: (is: string) => string
}

export const PAGES: readonly Page[] = [
  { path: 'docs/commands.md', write: () => commandDocs(COMMANDS) },
  { path: 'docs/statuses.md', write: (is) => withPart(is, statusTable()) },
  { path: 'docs/operations/metrics.md', write: (is) => withPart(is, metricTable()) },
  { path: 'README.md', write: (is) => withPart(is, settingTable()) },
]

export const pathOf = ({ path }: Page): URL => new URL(`../../../../${path}`, import.meta.url)

const PART = /(<!-- from the code: npm run docs -->\n).*?(<!-- until here -->)/s

/** The text around it is people's. */
function withPart(is: string, part: string): string {
  if (!PART.test(is)) throw new Error('the page has no place for what comes from the code')
  return is.replace(PART, (_, begin: string, end: string) => `${begin}\n${part}\n\n${end}`)
}
