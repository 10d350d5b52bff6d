import { assertNever } from '../../lib/assert.ts'
import type { GithubClient } from '../../sources/github/client.ts'
import { githubHook } from '../../sources/github/endpoint.ts'
import type { GitlabClient } from '../../sources/gitlab/client.ts'
import { gitlabHook } from '../../sources/gitlab/endpoint.ts'
import { CiError, type CiErrorKind, unlessGone } from '../../sources/http/errors.ts'
import type { Rate } from '../../sources/http/exchange.ts'
import { certificateWords } from '../../slack/messages/words.ts'
import {
  bounded,
  certificateIn,
  type Examination,
  type CheckResult,
  type Host,
  type HostName,
  type FindingWords,
  type Say,
} from './findings.ts'

export const githubHost = (client: GithubClient, projects: readonly string[]): Host => ({
  projects,
  listBuilds: (name) => client.runs(name),
  hook: async (name) => githubHook(await client.hooks(name)),
  rate: (name) => client.rate(name),
})

export const gitlabHost = (client: GitlabClient, projects: readonly string[]): Host => ({
  projects,
  listBuilds: (name) => client.pipelines(name),
  hook: async (name) => gitlabHook(await client.hooks(name)),
  rate: (name) => client.rate(name),
})

/**
 * Can the token read each project's builds at GitHub or GitLab? Whether it may rerun them shows only when it does.
 * If it can read them: does the webhook work, and how many calls are left?
 */
export const checkHost =
  (host: HostName) =>
  async ({ hosts }: Pick<Examination, 'hosts'>): Promise<CheckResult[]> => {
    const ours = hosts[host]
    if (!ours || ours.projects.length === 0) return [{ kind: 'not-configured' }]
    const results = await Promise.all(ours.projects.map((name) => checkProject(host, ours, name)))
    // Best effort: the other findings are useful without the rate limit.
    const rate = await ours.rate(ours.projects[0]!).catch(() => null)
    const refused = results.filter((one) => one.kind === 'host-refuses')
    return [
      ...(refused.length > 0 ? bounded(refused) : [{ kind: 'fine', count: ours.projects.length } as const]),
      ...bounded(grouped(results.filter((one) => one.kind === 'host-hook'))),
      ...(rate ? [{ kind: 'host-rate', host, rate } as const] : []),
    ]
  }

type OfHook = Extract<CheckResult, { kind: 'host-hook' }>

async function checkProject(host: HostName, { listBuilds, hook }: Host, name: string): Promise<CheckResult> {
  try {
    await listBuilds(name)
    const shown = (await unlessGone(hook(name))) ?? ({ state: 'hidden' } as const)
    return shown.state === 'fine' ? { kind: 'fine', count: 1 } : { kind: 'host-hook', host, names: [name], hook: shown }
  } catch (error) {
    if (!(error instanceof CiError)) throw error
    return { kind: 'host-refuses', host, name, code: error.kind, reason: error.reason ?? null, ...certificateIn(error) }
  }
}

/** One finding for all projects whose webhooks are in the same state. */
const grouped = (found: readonly OfHook[]): OfHook[] =>
  [...Map.groupBy(found, ({ hook }) => JSON.stringify(hook)).values()].map((all) => ({
    ...all[0]!,
    names: all.flatMap(({ names }) => names),
  }))

const NAMES = {
  github: {
    title: 'GitHub',
    token: 'GITHUB_TOKEN',
    projects: 'GITHUB_REPOSITORIES',
    url: 'GITHUB_API_URL',
    right: 'Actions: Read and write',
    hooks: ['permission', 'Webhooks: Read-only'],
    events: 'Workflow runs',
  },
  gitlab: {
    title: 'GitLab',
    token: 'GITLAB_TOKEN',
    projects: 'GITLAB_PROJECTS',
    url: 'GITLAB_URL',
    right: 'api',
    hooks: ['role', 'Maintainer'],
    events: 'Pipeline events',
  },
} as const satisfies Record<HostName, object>

export function hostWords(
  { host, name, code, reason, certificate }: Extract<CheckResult, { kind: 'host-refuses' }>,
  say: Say,
): FindingWords {
  const names = NAMES[host]
  const shown = say.code(name)
  const said = reason === null ? '' : ` It says: ${say.outside(reason)}`
  if (code === 'unauthorized')
    return {
      what: `${names.title} does not accept ${say.code(names.token)}${host === 'github' ? ' or the key of the GitHub App' : ''}.`,
      remedy: `Make a new one with the permission ${say.code(names.right)} and restart Buildline.`,
    }
  if (HIDDEN.has(code))
    return {
      what: `${names.title} does not show ${shown} to the token.${said}`,
      remedy: `Give the token this project and the permission ${say.code(names.right)}, or correct ${say.code(names.projects)}.`,
    }
  const certified = certificateWords(certificate, { server: names.title, address: names.url }, say.code)
  if (certified) return certified
  return {
    what: `${names.title} could not be asked about ${shown} (${code}).`,
    remedy: `Try again in a few minutes. If it keeps failing, check ${say.code(names.url)}, and that this machine can reach it.`,
  }
}

const HIDDEN: ReadonlySet<CiErrorKind> = new Set<CiErrorKind>(['forbidden', 'not-found'])

const NAMES_SHOWN = 3

/** What is wrong with a webhook, and what to do. Without a webhook, polling finds each build within a minute. */
export function hookWords({ host, names, hook }: OfHook, say: Say): FindingWords {
  const { title, hooks, events } = NAMES[host]
  const [right, name] = hooks
  const more = names.length > NAMES_SHOWN ? [`${names.length - NAMES_SHOWN} more`] : []
  const where = [...names.slice(0, NAMES_SHOWN).map(say.code), ...more].join(', ')
  const settings = `in the settings at ${title}`
  switch (hook.state) {
    case 'hidden':
      return {
        what: `The token cannot see the webhooks of ${where}. Polling finds builds without them.`,
        remedy: `To check them too, give the token the ${right} ${say.code(name)}.`,
      }
    case 'none':
      return {
        what: `${where}: no webhook of its own. Polling finds builds within a minute.`,
        remedy: `To get them at once, add one with the address ${say.code(`https://<host>/webhooks/${host}`)}.`,
      }
    case 'off':
      return { what: `The webhook of ${where} is switched off.`, remedy: `Switch it on ${settings}.` }
    case 'no-events':
      return {
        what: `The webhook of ${where} does not send builds.`,
        remedy: `Select ${say.code(events)} ${settings}.`,
      }
    case 'form':
      return {
        what: `The webhook of ${where} sends forms, which Buildline refuses.`,
        remedy: `Set its content type to ${say.code('application/json')} ${settings}.`,
      }
    case 'failing':
      return {
        what: `The last delivery for ${where} failed (${say.outside(hook.said)}). Polling finds builds until it works.`,
        remedy: `Check that ${title} can reach its address, and that its secret is ${say.code(`${host.toUpperCase()}_WEBHOOK_SECRET`)}.`,
      }
    default:
      return assertNever(hook)
  }
}

/** Less than a tenth is left. */
export const isNearlyUsedUp = ({ left, limit }: Rate): boolean => left * 10 < limit

export function rateWords({ host, rate }: Extract<CheckResult, { kind: 'host-rate' }>, say: Say): FindingWords {
  const { title, token } = NAMES[host]
  return {
    what: `${rate.left} of ${rate.limit} calls to ${title} are left until ${say.time(rate.resetAt)}.`,
    remedy: isNearlyUsedUp(rate)
      ? `Find out what else uses ${say.code(token)}, or give Buildline a token of its own.`
      : null,
  }
}
