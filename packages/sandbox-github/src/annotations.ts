import { z } from 'zod'
import type { Json } from './repository.ts'
import type { Job, Run, World } from './world.ts'

const text = z.string()

/** What a job's steps said about lines of files, as with `::error file=…,line=…::`. */
export const annotationSchema = z.strictObject({
  path: text,
  line: z.int().positive(),
  level: z.enum(['notice', 'warning', 'failure']),
  title: text.optional(),
  message: text,
})
export type Annotation = z.infer<typeof annotationSchema>

/** The annotations of a job that has ended. GitHub adds one to a failed job, for its script's exit. */
export function annotationBodies(world: World, run: Run, { name, conclusion }: Job): Json[] {
  if (conclusion === null) return []
  const own = run.annotations[name] ?? []
  const all: readonly Annotation[] = conclusion === 'failure' ? [...own, EXIT] : own
  return all.map(({ path, line, level, title = '', message }) => ({
    path,
    blob_href: `${world.url}/${run.repository.name}/blob/${run.sha}/${path}`,
    start_line: line,
    end_line: line,
    start_column: null,
    end_column: null,
    annotation_level: level,
    title,
    message,
    raw_details: '',
  }))
}

const EXIT = {
  path: '.github',
  line: 5,
  level: 'failure',
  message: 'Process completed with exit code 1.',
} as const satisfies Annotation
