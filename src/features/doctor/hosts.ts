import { CiError, type CiErrorKind } from '../../sources/http/errors.ts'
import { bounded, type Examination, type Found, type HostName } from './findings.ts'
import type { FindingWords, Say } from './say.ts'

/** Does GitHub, or GitLab, show the builds of each project to the token? Whether it may run them again shows only when somebody does. */
export const checkHost =
  (host: HostName) =>
  async ({ hosts }: Pick<Examination, 'hosts'>): Promise<Found[]> => {
    const asked = hosts[host]
    if (!asked || asked.projects.length === 0) return [{ kind: 'not-configured' }]
    const found = await Promise.all(
      asked.projects.map(async (name): Promise<Found | null> => {
        try {
          await asked.ask(name)
          return null
        } catch (error) {
          if (!(error instanceof CiError)) throw error
          return { kind: 'host-refuses', host, name, code: error.kind, reason: error.reason ?? null }
        }
      }),
    )
    const refused = found.filter((one) => one !== null)
    return refused.length > 0 ? bounded(refused) : [{ kind: 'fine', count: asked.projects.length }]
  }

const NAMES: Record<HostName, { title: string; token: string; projects: string; url: string; right: string }> = {
  github: {
    title: 'GitHub',
    token: 'GITHUB_TOKEN',
    projects: 'GITHUB_REPOSITORIES',
    url: 'GITHUB_API_URL',
    right: 'Actions: Read and write',
  },
  gitlab: {
    title: 'GitLab',
    token: 'GITLAB_TOKEN',
    projects: 'GITLAB_PROJECTS',
    url: 'GITLAB_URL',
    right: 'api',
  },
}

export function hostWords(
  { host, name, code, reason }: Extract<Found, { kind: 'host-refuses' }>,
  say: Say,
): FindingWords {
  const names = NAMES[host]
  const shown = say.code(name)
  const said = reason === null ? '' : ` It says: ${say.outside(reason)}`
  if (code === 'unauthorized')
    return {
      what: `${names.title} does not accept ${say.code(names.token)}.`,
      remedy: `Make a new token with the right ${say.code(names.right)} and restart Buildline.`,
    }
  if (HIDDEN.has(code))
    return {
      what: `${names.title} does not show ${shown} to the token.${said}`,
      remedy: `Give the token this project and the right ${say.code(names.right)}, or correct ${say.code(names.projects)}.`,
    }
  return {
    what: `${names.title} could not be asked about ${shown} (${code}).`,
    remedy: `Try again in a few minutes. If it stays, check ${say.code(names.url)}, and that this machine can reach it.`,
  }
}

const HIDDEN: ReadonlySet<CiErrorKind> = new Set<CiErrorKind>(['forbidden', 'not-found'])
