import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { describedFeatures } from '../../../../src/features/features.ts'
import { commandDocs, slashCommands } from './commands.ts'
import { metricTable } from './metrics.ts'
import { settingTable } from './settings.ts'
import { statusTable } from './statuses.ts'
import { triggerTable } from './triggers.ts'

/** A page of the documentation that is generated, wholly or in part. */
export interface Page {
  path: string
  /** @returns the page as it should be, given as it is */
  write: (current: string) => string | Promise<string>
}

const COMMANDS = describedFeatures().commands

export const PAGES: readonly Page[] = [
  { path: 'docs/commands.md', write: () => commandDocs(COMMANDS) },
  { path: 'docs/statuses.md', write: (current) => withPart(current, statusTable()) },
  { path: 'docs/sources.md', write: (current) => withPart(current, triggerTable()) },
  { path: 'docs/operations/metrics.md', write: (current) => withPart(current, metricTable()) },
  {
    path: 'manifest.yml',
    write: (current) => current.replace(SLASH_COMMANDS, (_, end: string) => slashCommands(COMMANDS) + end),
  },
  { path: 'docs/settings.md', write: (current) => withPart(current, settingTable()) },
  { path: 'docs/slack-app.md', write: (current) => withPart(current, appLink()) },
]

const SLASH_COMMANDS = /^  slash_commands:\n.*?(^\w)/ms

export const pathOf = ({ path }: Pick<Page, 'path'>): URL => new URL(`../../../../${path}`, import.meta.url)

/** Opens Slack's form for a new app with the manifest filled in. Source: docs.slack.dev/app-manifests */
function appLink(): string {
  const manifest: unknown = parse(readFileSync(pathOf({ path: 'manifest.yml' }), 'utf8'))
  const filledIn = encodeURIComponent(JSON.stringify(manifest))
  return `**[Create the Slack app](https://api.slack.com/apps?new_app=1&manifest_json=${filledIn})**`
}

/** Writes one part of a page; the text around it is written by hand. */
function withPart(current: string, part: string): string {
  if (!PART.test(current)) throw new Error('the page has no place for what comes from the code')
  return current.replace(PART, (_, begin: string, end: string) => `${begin}\n${part}\n\n${end}`)
}

const PART = /(<!-- from the code: npm run docs -->\n).*?(<!-- until here -->)/s
