import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import * as z from 'zod'
import { isChannelId, isProjectId, SOURCES, sourceOf } from '../domain/ids.ts'
import { DETAILS } from '../domain/builds/failure.ts'
import type { ReminderRule } from '../domain/builds/reminder.ts'
import type { Follows, Subscription } from '../domain/rules/subscription.ts'
import { readReminderAlone, reminderFault } from '../features/subscriptions/remind.ts'
import { EVENTS_BY_WORD, isPattern, rulesOf } from '../features/subscriptions/subscribe-input.ts'

const ENTRY = z.strictObject({
  channel: z.string().refine(isChannelId, 'is not a channel id; it looks like C0123ABCD'),
  project: z.string().trim().min(1),
  source: z.enum(SOURCES).optional(),
  events: z
    .array(z.enum([...EVENTS_BY_WORD.keys()]))
    .min(1, 'needs at least one event')
    .transform((words) => words.flatMap((word) => EVENTS_BY_WORD.get(word)!))
    .optional(),
  branch: z.string().min(1).optional(),
  branch_match: z.enum(['exact', 'wildcard', 'regex']).optional(),
  quiet: z.boolean().default(false),
  mention: z.enum(['committer', 'nobody']).default('committer'),
  details: z.enum(DETAILS).optional(),
  remind: z.string().transform(toReminder).optional(),
})

/** In UTC if it names no time zone. */
function toReminder(text: string, context: z.RefinementCtx): ReminderRule | null {
  const read = readReminderAlone(text)
  if (read.kind === 'reminder') return read.remind && { ...read.remind, zone: read.remind.zone ?? 'UTC' }
  context.addIssue({ code: 'custom', message: reminderFault(read) })
  return z.NEVER
}

const FILE = z.strictObject({ subscriptions: z.array(ENTRY.superRefine(checkPattern).superRefine(checkSource)) })

function checkSource({ project, source }: z.infer<typeof ENTRY>, context: z.RefinementCtx): void {
  const fault = (message: string) => context.addIssue({ code: 'custom', path: ['source'], message })
  if (source && isAll(project)) fault('names a source, but this is for all projects')
  if (source && isProjectId(project) && sourceOf(project) !== source)
    fault('is not the source of a project with that id')
}

const isAll = (project: string): boolean => project.toLowerCase() === 'all'

function checkPattern({ branch, branch_match: mode }: z.infer<typeof ENTRY>, context: z.RefinementCtx): void {
  const fault = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
  if (mode && !branch) fault('branch_match', 'says how to match a branch, but there is no branch')
  if (branch && !isPattern({ branch, branchMatch: mode ?? null }))
    fault('branch', 'is not a valid pattern, or is too large')
}

/**
 * Reads subscriptions as code, in YAML: a list `subscriptions` of `channel`, `project` (name or `all`) and optionally
 * more (ENTRY). An entry without events and branch follows the project's own rules.
 */
export function parseSubscriptions(text: string): {
  subscriptions: readonly Subscription[]
  faults: readonly string[]
} {
  const document = parseYaml(text)
  if (document.kind === 'fault') return { subscriptions: [], faults: [document.fault] }
  const read = FILE.safeParse(document.value)
  if (!read.success)
    return { subscriptions: [], faults: read.error.issues.map(({ path, message }) => `${nameOf(path)}: ${message}`) }
  return { subscriptions: read.data.subscriptions.map(toSubscription), faults: [] }
}

function parseYaml(text: string): { kind: 'value'; value: unknown } | { kind: 'fault'; fault: string } {
  // Loaded only if there is a file: `yaml` has seventy modules.
  const { parse, YAMLParseError }: typeof Yaml = createRequire(import.meta.url)('yaml')
  try {
    return { kind: 'value', value: parse(text) }
  } catch (error) {
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined
    return { kind: 'fault', fault: `line ${line ?? '?'} is not valid YAML` }
  }
}

// subscriptions[1].channel
const nameOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (name, part) => (typeof part === 'number' ? `${name}[${part}]` : `${name}${name && '.'}${String(part)}`),
    '',
  ) || 'the file'

const toSubscription = (entry: z.infer<typeof ENTRY>): Subscription => ({
  channel: entry.channel,
  follows: followsOf(entry),
  rules: rulesOf({
    events: entry.events ?? null,
    branch: entry.branch ?? null,
    branchMatch: entry.branch_match ?? null,
  }),
  quiet: entry.quiet,
  mention: entry.mention,
  ...(entry.details && { details: entry.details }),
  ...(entry.remind && { remind: entry.remind }),
  source: 'file',
})

// A project id belongs to exactly one source.
function followsOf({ project: name, source }: z.infer<typeof ENTRY>): Follows {
  if (isAll(name)) return { what: 'all' }
  const own = source ?? (isProjectId(name) ? sourceOf(name) : null)
  return { what: 'project', name, ...(own && { sources: [own] }) }
}
