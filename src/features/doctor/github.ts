import { CiError, type CiErrorKind } from '../../sources/http/errors.ts'
import { bounded, type Examination, type Found } from './findings.ts'
import type { FindingWords, Say } from './say.ts'

/** Does GitHub show the runs of each repository to the token? Whether it may run them again shows only when somebody does. */
export async function checkGithub({ github }: Examination): Promise<Found[]> {
  if (!github || github.repositories.length === 0) return [{ kind: 'not-configured' }]
  const { client, repositories } = github
  const found = await Promise.all(
    repositories.map(async (repository): Promise<Found | null> => {
      try {
        await client.runs(repository)
        return null
      } catch (error) {
        if (!(error instanceof CiError)) throw error
        return { kind: 'github-refuses', repository, code: error.kind }
      }
    }),
  )
  const refused = found.filter((one) => one !== null)
  return refused.length > 0 ? bounded(refused) : [{ kind: 'fine', count: repositories.length }]
}

type Refused = Extract<Found, { kind: 'github-refuses' }>

const RIGHT = 'Actions: Read and write'

export function githubWords({ repository, code }: Refused, say: Say): FindingWords {
  const token = say.code('GITHUB_TOKEN')
  const shown = say.code(repository)
  if (code === 'unauthorized')
    return {
      what: `GitHub does not accept ${token}.`,
      remedy: `Make a new token with the permission ${say.code(RIGHT)} and restart Buildline.`,
    }
  if (HIDDEN.has(code))
    return {
      what: `GitHub does not show ${shown} to the token.`,
      remedy: `Give the token this repository and the permission ${say.code(RIGHT)}, or correct ${say.code('GITHUB_REPOSITORIES')}.`,
    }
  return {
    what: `GitHub could not be asked about ${shown} (${code}).`,
    remedy: `Try again in a few minutes. If it stays, check ${say.code('GITHUB_API_URL')}, and that this machine can reach it.`,
  }
}

const HIDDEN: ReadonlySet<CiErrorKind> = new Set<CiErrorKind>(['forbidden', 'not-found'])
