import { existsSync } from 'node:fs'
import { readConfig } from '../config/config.ts'
import { withEnvFile, type Environment } from '../config/environment.ts'
import { repositoryOf, sourceOf } from '../domain/ids.ts'
import { findFollowed } from '../projects/subscriptions.ts'
import { reportSecret } from '../sources/report.ts'
import { openStore } from '../store/open.ts'

/** A problem that the operator can fix. The message is one line and contains no secret. */
export class ReportSecretFailure extends Error {}

/** The report secrets of the GitHub repositories and GitLab projects with this name. It only reads, so the bot may be running. */
export async function reportSecretsOf(name: string, env: Environment): Promise<string[]> {
  const reading = readConfig(withEnvFile(env))
  if (reading.kind === 'faults') throw new ReportSecretFailure(reading.faults[0])
  const { database, github, gitlab } = reading.config
  // Opening a file that is not there would create an empty database.
  if (database.kind === 'sqlite' && !existsSync(database.path))
    throw new ReportSecretFailure(`there is no database at ${database.path}: set DATABASE_URL`)
  const store = await openStore(database)
  try {
    const found = await findFollowed(store.read, name)
    const named = found.kind === 'project' ? [found.project] : found.kind === 'several-projects' ? found.projects : []
    // A secret of a project that is only called nearly so would be given to the wrong repository.
    const exact = named.filter((one) => one.name.toLowerCase() === name.trim().toLowerCase())
    const ids = new Set(exact.map(({ projectId }) => repositoryOf(projectId ?? '') ?? projectId ?? ''))
    const secrets = [...ids].flatMap((id) => {
      const secretOf = { ci: [], github: github.webhookSecrets, gitlab: gitlab.webhookSecrets }
      return secretOf[sourceOf(id)].slice(0, 1).map((secret) => reportSecret(secret, id))
    })
    if (secrets.length > 0) return secrets
  } finally {
    await store.close()
  }
  throw new ReportSecretFailure(
    'the bot has seen no build of a GitHub repository or GitLab project with exactly this name, or has no webhook secret for it',
  )
}
