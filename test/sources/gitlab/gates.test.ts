import { expect, onTestFinished, test } from 'vitest'
import type { RuleWanted } from '../../../packages/sandbox-gitlab/src/deployments.ts'
import { pipelineOf, pushed, startGitlab } from '../../../packages/sandbox-gitlab/test/support.ts'
import { gitlabProjectId } from '../../../src/domain/ids.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createGitlabClient } from '../../../src/sources/gitlab/client.ts'
import { createGitlabSource } from '../../../src/sources/gitlab/source.ts'
import { createTransport } from '../../../src/sources/http/transport.ts'
import { buildId } from '../../support/build-events.ts'

const NAMES = { projectId: gitlabProjectId('71'), project: 'acme/web' }
const UNKNOWN = { projectUuid: null, buildUuid: null, branch: null, number: null, commit: null }
const DEPLOY = { name: 'eu', stage: 'deploy', environment: 'production' }
const TOKEN = 'Release Robot'

async function open() {
  const gitlab = await startGitlab()
  const transport = createTransport({ clock: systemClock })
  onTestFinished(() => transport.close())
  const { url, token } = gitlab.address()
  const source = createGitlabSource(createGitlabClient({ url, token, transport }), { project: async () => null })
  return {
    gitlab,
    source,
    /** What a new pipeline waits for. By default Ada has triggered it. */
    async waiting(
      rules: readonly RuleWanted[],
      job: object = DEPLOY,
      user: string | null = 'Ada',
      more: object[] = [],
    ) {
      gitlab.protect('acme/web', 'production', rules)
      const jobs = [job, ...more].map((one) => ({ ...DEPLOY, ...one }))
      const { id } = pushed(gitlab, { outcome: 'none', user, jobs })
      gitlab.advance(id, 'manual')
      const build = { ...NAMES, buildId: buildId(String(id)) }
      const gates = async () => (await source.readBuild({ ...UNKNOWN, ...build }))!.event!.details.gates!
      const decide = async (comment: string) =>
        source.decide!(
          { ...UNKNOWN, ...build, hasFailed: false },
          { action: 'approve', gate: (await gates())[0]!, comment },
        )
      return { id, build, gates, decide }
    },
  }
}

const group = (members: readonly string[], areInherited = false) => ({
  group: { name: 'QA', members: [...members], areInherited },
})

test('a deployment is waited for until every rule is met, and is offered by a rule of the token’s owner', async () => {
  const { gitlab, waiting } = await open()
  const gateBy = async (...rules: RuleWanted[]) => {
    const [gate, ...others] = await (await waiting(rules)).gates()
    expect(others).toEqual([])
    const { kind, name, reviewers, isOurs, as } = gate!
    expect([kind, name]).toEqual(['environment', 'production'])
    return `${reviewers.join()}${isOurs ? `, ours as ${as}` : ''}`
  }
  expect(await gateBy({ role: 'Maintainer' })).toBe('Maintainers, ours as Maintainers')
  expect(await gateBy({ user: TOKEN })).toBe(`${TOKEN}, ours as ${TOKEN}`)
  expect(await gateBy({ user: 'Grace' })).toBe('Grace')
  expect(await gateBy({ ...group(['Grace', TOKEN]), required: 2 })).toBe('2 of QA, ours as QA')
  expect(await gateBy(group(['Grace']))).toBe('QA')
  expect(await gateBy(group([TOKEN], true))).toBe('QA, ours as QA')
  expect(await gateBy({ user: 'Grace' }, group([TOKEN]))).toBe('Grace and QA, ours as QA')
  gitlab.setSwitches({ role: 'Developer' })
  expect(await gateBy({ role: 'Maintainer' })).toBe('Maintainers')
  expect(await gateBy({ role: 'Maintainer' }, { role: 'Developer' })).toBe(
    'Maintainers and Developers + Maintainers, ours as Developers + Maintainers',
  )
})

test('the token’s owner approves once, and not what they have triggered, unless the project allows it', async () => {
  const { gitlab, waiting } = await open()
  const own = await waiting([{ role: 'Maintainer' }], {}, null)
  expect(await own.gates()).toMatchObject([{ kind: 'environment', isOurs: false }])
  gitlab.setSwitches({ mayApproveOwn: true })
  expect(await own.gates()).toMatchObject([{ kind: 'environment', isOurs: true }])
  const twice = await waiting([{ role: 'Maintainer', required: 2 }])
  await twice.decide('Tested.')
  expect(await twice.gates()).toMatchObject([{ reviewers: ['Maintainers'], isOurs: false }])
  gitlab.decide(twice.id, 'production', 'Grace', { status: 'approved' })
  expect(await twice.gates()).toMatchObject([{ kind: 'job', name: 'deploy: eu', isOurs: true }])
})

test('without approvals, or where GitLab does not show them, the job is an ordinary one', async () => {
  const { gitlab, waiting } = await open()
  const JOB = [{ kind: 'job', name: 'deploy: eu', isOurs: true }]
  expect(await (await waiting([], { manual: true })).gates()).toMatchObject(JOB)
  const { gates, id } = await waiting([{ role: 'Maintainer' }])
  expect(await gates()).toMatchObject([{ kind: 'environment' }])
  gitlab.setSwitches({ role: 'Guest' })
  expect(await gates()).toMatchObject(JOB)
  gitlab.setSwitches({ role: 'Maintainer', isFree: true })
  expect(await gates()).toMatchObject(JOB)
  expect(pipelineOf(gitlab, id).status).toBe('manual')
})

test('the decisions about a deployment are read; GitLab keeps none about the start of a job', async () => {
  const { gitlab, source, waiting } = await open()
  const { id, build, gates, decide } = await waiting([{ role: 'Maintainer', required: 3 }])
  const [gate] = await gates()
  expect(await source.readDecisions!(build, gate!)).toEqual([])
  await decide('Tested.')
  gitlab.decide(id, 'production', 'Grace', { status: 'approved' })
  expect(await source.readDecisions!(build, gate!)).toEqual(['Tested.', ''])
  expect(await source.readDecisions!(build, { kind: 'job', id: '1' })).toBeNull()
})

test('jobs that deploy to one environment are told apart by their names', async () => {
  const { waiting } = await open()
  const { gates } = await waiting([{ role: 'Maintainer' }], { name: 'deploy' }, 'Ada', [{ name: 'rollback' }])
  const names = (await gates()).map(({ name }) => name)
  expect(names.toSorted()).toEqual(['production (deploy)', 'production (rollback)'])
})
