import { expect, test } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import { maskedProject } from '../../../src/domain/masked-project.ts'
import { ada, BUILDS, openStage, SUCCESS, until } from '../stage.ts'

const project = {
  projectId: null,
  uuid: toUuid('0a1b2c3d-0000-4000-8000-0123456789ab'),
  name: 'acme/ios',
  type: 'pro',
}
const shown = { project, masked: maskedProject({ type: 'pro' }), setup: [], build: null, base: {} }

test('a write is announced to the requester, who is answered at once, if Slack takes no more in the channel', async () => {
  const { slack } = await openStage({
    operations: {
      projects: {
        ...SUCCESS.projects,
        find: async () => ({ kind: 'project', project }),
        show: async () => ({ kind: 'project', shown, stale: null, mayEdit: true }),
        async resetAesKey(_, __, begun) {
          await begun?.()
          return { kind: 'reset', project, aesKey: 'new-key' }
        },
      },
    },
  })
  const form = () => JSON.stringify(slack.views.stack(ada).at(-1) ?? {})
  await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'project reset-aes-key acme/ios' })
  await until(() => form().includes('reset:name'))
  slack.faults.add({ kind: 'ratelimited', method: 'chat.postMessage', channel: BUILDS, retryAfterS: 60 })
  await slack.people.submitView({ user: ada, values: { 'reset:name': { value: { value: 'acme/ios' } } } })
  await until(() => form().includes('AES key reset'))
  expect(slack.counters.calls('chat.postMessage', 'ok')).toBeGreaterThan(0)
  expect(slack.messages(BUILDS)).toEqual([])
})
