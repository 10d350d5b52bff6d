// @ts-check
import { EXIT, Failure } from './program.js'

export const reportSecretHelp = () => `buildline report-secret: the BUILDLINE_SECRET for the jobs of one repository.

  buildline report-secret acme/web

It runs where the bot is installed (its folder or its image), with the bot's settings: the environment, and a file .env.
It prints the secret with which jobs of this GitHub repository or GitLab project report their tests. It is good for
nothing else. It is derived from the first value of GITHUB_WEBHOOK_SECRET or GITLAB_WEBHOOK_SECRET, and stops working
when that value is removed. If GitHub and GitLab both have a project of this name, one secret is printed for each; it
begins with its source. The bot must have seen a build of it.
`

/** @type {import('./program.js').Work} */
export async function reportSecret([name, ...more], env, print) {
  if (name === undefined || more.length > 0)
    throw new Failure(
      EXIT.usage,
      'report-secret takes the name of one repository or project. See buildline report-secret --help',
    )
  // This imports the bot's own code here and not at the top, because build machines do not have it.
  const { ReportSecretFailure, reportSecretsOf } = await import('../../../src/cli/report-secret.ts').catch(() => {
    throw new Failure(EXIT.other, 'run it where the bot is installed: in its folder or its image, with its Node')
  })
  try {
    for (const secret of await reportSecretsOf(name, env)) print.text(`${secret}\n`)
  } catch (error) {
    if (error instanceof ReportSecretFailure) throw new Failure(EXIT.usage, error.message)
    throw new Failure(
      EXIT.unavailable,
      'the database could not be read: is DATABASE_URL right, and has the bot run yet?',
    )
  }
}
