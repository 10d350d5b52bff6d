import { createEmulator } from 'emulate'
import { onTestFinished } from 'vitest'
import type { Settings } from '../support/app.ts'
import type { Json } from './emulate.ts'

/** The file of emulate 0.12.2 with its GitHub. There, no call creates a workflow: only its store does. */
const GITHUB_FILE = 'dist-DWLNEG6M.js'

interface Collection {
  insert(row: Json): { id: number }
  update(id: number, changes: Json): unknown
  findOneBy(field: string, value: unknown): { id: number } | undefined
}

type Store = Readonly<Record<'workflows' | 'workflowRuns' | 'jobs' | 'repos' | 'users', Collection>>

interface GithubModule {
  githubPlugin: { seed(store: unknown, baseUrl: string): void }
  getGitHubStore(store: unknown): Store
}

const TOKEN = 'ghp_emulated'
const OWNER = 'acme'

/** A GitHub that nobody of this project wrote, with the repository acme/web. Its runs do only what the test says. */
export interface EmulatedGithub {
  settings: Settings
  /** Starts a run of the workflow CI on `main`. Returns its id. */
  start(): number
  /** Ends a run, with one job and step that ended the same. */
  finish(run: number, conclusion: 'success' | 'failure'): void
  /** Calls the API on the repository, as the bot does. */
  call(path: string, method?: 'GET' | 'POST'): Promise<{ status: number; body: Json }>
}

export async function openEmulatedGithub(): Promise<EmulatedGithub> {
  const { url, store } = await startWithStore()
  const repository = store.repos.findOneBy('full_name', `${OWNER}/web`)!.id
  const actor = store.users.findOneBy('login', OWNER)!.id
  const workflow = store.workflows.insert({
    node_id: 'W_1',
    repo_id: repository,
    name: 'CI',
    path: '.github/workflows/ci.yml',
    state: 'active',
  }).id
  let runs = 0
  return {
    settings: { GITHUB_API_URL: url, GITHUB_TOKEN: TOKEN, GITHUB_REPOSITORIES: `${OWNER}/web` },
    start: () => {
      runs += 1
      return store.workflowRuns.insert({
        node_id: `R_${runs}`,
        repo_id: repository,
        workflow_id: workflow,
        name: 'CI',
        head_branch: 'main',
        head_sha: String(runs).padStart(40, '0'),
        run_number: runs,
        event: 'push',
        status: 'in_progress',
        conclusion: null,
        actor_id: actor,
        run_attempt: 1,
        run_started_at: new Date().toISOString(),
      }).id
    },
    finish: (run, conclusion) => {
      const ended = { status: 'completed', conclusion }
      const times = { started_at: new Date().toISOString(), completed_at: new Date().toISOString() }
      const steps = [{ name: 'Run test', number: 1, ...ended, ...times }]
      store.jobs.insert({
        node_id: `J_${run}`,
        repo_id: repository,
        run_id: run,
        name: 'test',
        ...ended,
        ...times,
        steps,
      })
      store.workflowRuns.update(run, ended)
    },
    call: async (path, method = 'GET') => {
      const headers = { authorization: `Bearer ${TOKEN}` }
      const response = await fetch(`${url}/repos/${OWNER}/web/${path}`, { method, headers })
      return { status: response.status, body: (await response.json()) as Json }
    },
  }
}

async function startWithStore(): Promise<{ url: string; store: Store }> {
  const { githubPlugin, getGitHubStore } = (await import(
    new URL(`../../node_modules/emulate/dist/${GITHUB_FILE}`, import.meta.url).href
  )) as GithubModule
  const { seed } = githubPlugin
  let caught: unknown
  githubPlugin.seed = (store, baseUrl) => {
    caught = store
    seed.call(githubPlugin, store, baseUrl)
  }
  const repos = [{ owner: OWNER, name: 'web', auto_init: true }]
  const emulator = await createEmulator({
    service: 'github',
    port: 0,
    seed: { tokens: { [TOKEN]: { login: OWNER, scopes: ['repo'] } }, github: { users: [{ login: OWNER }], repos } },
  })
  githubPlugin.seed = seed
  onTestFinished(() => emulator.close())
  return { url: emulator.url, store: getGitHubStore(caught) }
}
