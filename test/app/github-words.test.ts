import { expect, test } from 'vitest'
import { pushed, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { describedFeatures } from '../../src/features/features.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { openStage, settled, until } from '../support/app.ts'
import { answersTo, type } from '../support/world.ts'

const { ada } = PEOPLE

/** A bot with GitHub only, used by its admin. */
async function openAlone() {
  const github = await startGithub()
  const { apiUrl, token, webhookSecret } = github.address()
  const stage = await openStage({
    settings: {
      DEFAULT_CHANNEL: CHANNELS.builds,
      WEBHOOK_SECRET: undefined,
      GITHUB_API_URL: apiUrl,
      GITHUB_TOKEN: token,
      GITHUB_REPOSITORIES: 'acme/web',
      GITHUB_WEBHOOK_SECRET: webhookSecret,
      CI_ADMINS: ada,
    },
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  github.setWebhookUrl(`${stage.app.url}/webhooks/github`)
  /** The answer, or the form that opens. */
  const answered = async (line: string): Promise<string> => {
    const before = answersTo(stage, ada).length
    await type(stage, ada, line)
    const said = await until(line, () => {
      const view = stage.slack.views.stack(ada).at(-1)
      return answersTo(stage, ada)[before] ?? (JSON.stringify(view ?? '').includes('Next:') ? view : null)
    })
    // The workflow is called CI, and its badge's address has its name.
    return JSON.stringify(said).replaceAll('acme/web CI', 'acme/web').replaceAll('/workflows/CI/', '/workflows/name/')
  }
  const rested = async () => {
    await github.settle()
    await settled(stage.app.url)
  }
  return { github, answered, rested }
}

/** The first example of each command that only looks. */
const LOOKS = describedFeatures()
  .commands.filter(({ group }) => group === 'Look')
  .map(({ examples }) => [examples[0]!, ''] as const)

test('with GitHub only, no answer mentions CI, and the doctor misses nothing', async () => {
  const { github, answered, rested } = await openAlone()
  const ofCi = /\bCI\b|CI_[A-Z]/
  for (const [line, words] of [['/ci list', 'a project is listed once it has a build'], ...LOOKS] as const) {
    const answer = await answered(line)
    expect(answer).toContain(words)
    expect(answer).not.toMatch(ofCi)
  }
  github.finish(pushed(github).id, 'failure')
  pushed(github, { branch: 'held', needsApproval: true })
  await rested()
  for (const [line, words] of [
    ['/ci list', 'acme/web · GitHub'],
    ['/ci status acme/web', 'Failed'],
    ['/ci stop acme/web@held', 'Nobody has approved it yet, and GitHub cannot cancel it'],
    ['/ci restart acme/web@held', 'Start or cancel it in GitHub'],
    ['/ci restart acme/web@main', 'GitHub accepted the request'],
    ['/ci rules', "each project's own rules"],
    ['/ci doctor', 'Nothing is wrong*.'],
    ['/ci project edit acme/web', 'It is a workflow of GitHub Actions'],
    ...LOOKS,
  ] as const) {
    const answer = await answered(line)
    expect(answer, line).toContain(words)
    expect(answer, line).not.toMatch(ofCi)
  }
}, 60_000)
