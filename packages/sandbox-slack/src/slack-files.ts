import { isJson } from './json.ts'
import { checkView } from './limits.ts'
import type { Problem } from './limits.ts'
import type { Workspace } from './model.ts'

/** A problem for every `slack_file` in blocks or attachments that is not a complete file of the workspace. */
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

function isKnown({ files, origin }: Workspace, named: unknown): boolean {
  if (!isJson(named)) return false
  const { id, url } = named
  if (typeof id === 'string') return files.get(id)?.isComplete ?? false
  return typeof url === 'string' && url.startsWith(`${origin}/files/`)
}
