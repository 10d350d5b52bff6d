import { drawBadge, GREY } from '../../lib/badge.ts'
import type { Look } from '../../lib/badge.ts'
import type { Route } from '../../lib/http.ts'
import { refuse } from './api.ts'
import { isKnown } from './listener.ts'
import { currentAttempt, findRepository, findWorkflow, isRed, runsOf } from './world.ts'
import type { Run, World } from './world.ts'

/**
 * The badge of a workflow on a branch. On GitHub, only people who are logged in see that of a private repository; here
 * the call needs the token. Source: GitHub, "Adding a workflow status badge".
 */
export const badgeRoutes = (world: World): Route[] =>
  ['/:owner/:name/actions/workflows/:workflow/badge.svg', '/:owner/:name/workflows/:workflow*/badge.svg'].map(
    (pattern) => badgeRoute(world, pattern),
  )

/** `:workflow`: its file, or its name. */
const badgeRoute = (world: World, pattern: string): Route => ({
  method: 'GET',
  pattern,
  handle(call, { owner, name, workflow: wanted = '' }) {
    const repository = findRepository(world, `${owner}/${name}`)
    const workflow = repository && findWorkflow(repository, wanted)
    if (!workflow || (repository.isPrivate && !isKnown(world, call))) return refuse(404, 'Not Found')
    const branch = call.query.get('branch') ?? repository.defaultBranch
    const runs = runsOf(world, repository).filter((run) => run.workflow === workflow && run.branch === branch)
    const ended = runs.find((run) => currentAttempt(run).status === 'completed')
    const headers = { 'content-type': 'image/svg+xml; charset=utf-8', 'cache-control': 'no-cache' }
    return { statusCode: 200, headers, body: drawBadge(workflow.name, lookOf(ended)) }
  },
})

function lookOf(run: Run | undefined): Look {
  const conclusion = run ? currentAttempt(run).conclusion : null
  if (conclusion === 'success') return { word: 'passing', color: '#2e9e3e' }
  return isRed(conclusion) ? { word: 'failing', color: '#d1402f' } : { word: 'no status', color: GREY }
}
