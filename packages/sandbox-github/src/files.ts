import { hash } from 'node:crypto'
import { parse } from 'yaml'
import { z } from 'zod'
import { repositoryUrl } from './repository.ts'
import type { Json } from './repository.ts'
import type { Repository, World } from './world.ts'

// Workflow files. One that was not set can be started by hand with any inputs.

const DEFAULT_TEXT = 'on: [push, workflow_dispatch]\njobs: {}\n'

/** Sets a file's text on one branch or tag, or (null) on all. A text of null removes it. */
export const setFile = (
  world: World,
  name: string,
  path: string,
  text: string | null,
  ref: string | null = null,
): void => void world.files.set(keyOf(name, path, ref), text)

const keyOf = (name: string, path: string, ref: string | null): string =>
  `${name} ${path}${ref === null ? '' : ` ${ref}`}`

/** The text that was set; undefined: none was. */
const setText = ({ files }: World, { name }: Repository, path: string, ref: string): string | null | undefined => {
  const own = files.get(keyOf(name, path, ref))
  return own === undefined ? files.get(keyOf(name, path, null)) : own
}

/** The text of a workflow's file; null: there is none. */
export function textOf(world: World, repository: Repository, path: string, ref: string): string | null {
  const set = setText(world, repository, path, ref)
  if (set !== undefined) return set
  return repository.workflows.some((workflow) => workflow.path === path) ? DEFAULT_TEXT : null
}

const inputs = z.record(
  z.string(),
  z.looseObject({ required: z.boolean().optional(), default: z.unknown().optional() }).nullable(),
)
const dispatched = z.object({ on: z.object({ workflow_dispatch: z.object({ inputs: inputs.optional() }).nullable() }) })

/** Why GitHub refuses to start a workflow whose file was set; null: it does not. */
export function faultOf(world: World, repository: Repository, path: string, ref: string, given: object): string | null {
  const text = setText(world, repository, path, ref)
  if (text === undefined) return null
  const read = text === null ? undefined : dispatched.safeParse(parse(text)).data
  if (!read) return "Workflow does not have 'workflow_dispatch' trigger"
  const known = read.on.workflow_dispatch?.inputs ?? {}
  const surplus = Object.keys(given).filter((name) => !Object.hasOwn(known, name))
  if (surplus.length > 0) return `Unexpected inputs provided: ${JSON.stringify(surplus)}`
  const isMissing = (name: string) =>
    known[name]?.required === true && known[name].default === undefined && !Object.hasOwn(given, name)
  const missing = Object.keys(known).find(isMissing)
  return missing === undefined ? null : `Required input '${missing}' not provided`
}

/** Source: GitHub REST API, "Get repository content". */
export function fileBody(world: World, repository: Repository, path: string, text: string): Json {
  const sha = hash('sha1', text)
  const url = `${repositoryUrl(world, repository)}/contents/${path}`
  const html_url = `${world.url}/${repository.name}/blob/main/${path}`
  const git_url = `${repositoryUrl(world, repository)}/git/blobs/${sha}`
  const links = { self: url, git: git_url, html: html_url }
  return {
    name: path.split('/').at(-1),
    path,
    sha,
    size: Buffer.byteLength(text),
    url,
    html_url,
    git_url,
    download_url: null,
    type: 'file',
    content: Buffer.from(text).toString('base64'),
    encoding: 'base64',
    _links: links,
  }
}
