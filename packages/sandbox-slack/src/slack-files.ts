import { isJson } from './json.ts'
import { checkView } from './limits.ts'
import type { Problem } from './limits.ts'
import type { Workspace } from './model.ts'

/** Slack needs a moment for a file that an app has completed. Until then, blocks that show it are refused. */
const PROCESSING_MS = 1_000

/** A problem for every `slack_file` in blocks or attachments that is not a processed file of the workspace. */
export function unknownFiles(workspace: Workspace, content: { blocks?: unknown; attachments?: unknown }): Problem[] {
  return [
    ...problemsIn(workspace, content.blocks, '/blocks', 'invalid_blocks'),
    ...problemsIn(workspace, content.attachments, '/attachments', 'invalid_attachments'),
  ]
}

/** Everything that Slack would refuse in a view: violations of limits, and unknown files. */
export const problemsOfView = (workspace: Workspace, view: unknown): Problem[] => [
  ...checkView(view),
  ...(isJson(view) ? problemsIn(workspace, view['blocks'], '/view/blocks', 'invalid_arguments') : []),
]

function problemsIn(workspace: Workspace, value: unknown, pointer: string, error: string): Problem[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = `${pointer}/${key}`
    if (key !== 'slack_file') return problemsIn(workspace, inner, place, error)
    return isKnown(workspace, inner) ? [] : [{ error, pointer: place, message: 'invalid slack file' }]
  })
}

function isKnown({ files, origin, clock }: Workspace, named: unknown): boolean {
  if (!isJson(named)) return false
  const { id, url } = named
  if (typeof id === 'string') return clock.now() - (files.get(id)?.completedAtMs ?? Infinity) >= PROCESSING_MS
  return typeof url === 'string' && url.startsWith(`${origin}/files/`)
}
