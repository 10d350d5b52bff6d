import { expect, test } from 'vitest'
import { staticAuth } from '../../src/sources/ci-service/auth.ts'
import { createClientV2 } from '../../src/sources/ci-service/client-v2.ts'
import { createClientLegacy } from '../../src/sources/ci-service/client-legacy.ts'
import { createTransport } from '../../src/sources/http/transport.ts'
import { refreshProjects } from '../../src/ci-sync/reading.ts'
import { SECOND } from '../support/build-events.ts'
import { startHttpStub } from '../support/http-stub.ts'
import { hear, openStage, type Stage } from '../features/operations-stage.ts'

const SITE = { id: 91, uuid: 'f0000000-0000-0000-0000-000000000091', repository_name: 'acme/site' }

/** The interface (the legacy one by default) now lists exactly these projects, and the list is read. */
async function refreshFrom({ main }: Stage, projects: readonly object[], from: 'legacy' | 'v2' = 'legacy') {
  await using stub = await startHttpStub(() => ({ json: projects }))
  const { store, clock, log } = main.deps
  const transport = createTransport({ clock })
  const legacy = createClientLegacy({ baseUrl: stub.url, apiKey: 'stub-key', transport })
  const auth = staticAuth('Bearer stub')
  const v2 = createClientV2({ baseUrl: stub.url, organizationUuid: SITE.uuid, auth, transport })
  await refreshProjects({ store, clock, log, v2: null, legacy: null, [from]: { legacy, v2 }[from] })
  await transport.close()
}

/** The site, which no interface has listed yet, has failed on two branches. */
async function siteFailed({ main, deliver, clock: hands }: Stage): Promise<void> {
  const { store, clock } = main.deps
  for (const branch of ['main', 'fix/login']) {
    const build = { project_id: 91, build_id: 7 + branch.length, branch, status: 'error', project_name: 'acme/site' }
    await hear({ store, clock }, JSON.stringify({ build }))
  }
  await deliver()
  await hands.advance(2 * SECOND)
}

const cards = ({ reconcile }: Stage) =>
  reconcile.slack.messages.flatMap(({ view }) => (view.kind === 'card' ? [view] : []))

test('cards get their restart button when the list says that CI can restart the project', async () => {
  await using stage = await openStage()
  await siteFailed(stage)
  const none = { offers: [], missing: { action: 'restart', why: 'project-unknown' } }
  expect(cards(stage)).toMatchObject([none, none])
  await refreshFrom(stage, [SITE])
  await stage.clock.advance(5 * SECOND)
  const offered = { offers: ['restart'], missing: null }
  expect(cards(stage)).toMatchObject([offered, offered])
})

test('the v2 list counts too if it has the id of the deliveries', async () => {
  await using stage = await openStage()
  await siteFailed(stage)
  // The name differs, so that only the id can match.
  const { repository_name: _, ...site } = { ...SITE, name: 'acme/renamed', type: 'basic' }
  await refreshFrom(stage, [site], 'v2')
  await stage.clock.advance(5 * SECOND)
  const offered = { offers: ['restart'], missing: null }
  expect(cards(stage)).toMatchObject([offered, offered])
})

test('listing another project changes no card', async () => {
  await using stage = await openStage()
  await siteFailed(stage)
  const before = cards(stage)
  await refreshFrom(stage, [{ ...SITE, id: 92, uuid: SITE.uuid.replace('91', '92'), repository_name: 'acme/docs' }])
  await stage.clock.advance(5 * SECOND)
  expect(cards(stage)).toEqual(before)
  expect(before.map(({ offers }) => offers)).toEqual([[], []])
})
