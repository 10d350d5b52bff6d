import { expect, test } from 'vitest'
import { createClients, createHostedClients, GITLAB_REFUSED, LEGACY_REFUSED } from '../../src/runtime/clients.ts'
import type { BuildId, ProjectId } from '../../src/domain/ids.ts'
import { CiError, type CiErrorKind } from '../../src/sources/http/errors.ts'

/** The clients on a transport whose calls all end like this, and what they said of them. */
function openClients(kind: CiErrorKind) {
  const said: string[] = []
  const failing = { send: () => Promise.reject(new CiError({ kind, purpose: 'ask' })), close: async () => {} }
  const warn = (what: string) => void said.push(what)
  const count = (name: string, end: string) => void said.push(`${name} counted: ${end}`)
  const { legacy } = createClients(
    { v2: null, legacy: { baseUrl: 'https://ci.example', apiKey: 'key-canary' }, siteUrl: null },
    failing,
    warn,
    count,
  )
  const { gitlab } = createHostedClients(
    {
      github: { apiUrl: 'https://github.example', token: null, app: null, repositories: [], webhookSecrets: [] },
      gitlab: { url: 'https://gitlab.example', token: 'token-canary', projects: [], webhookSecrets: [] },
    },
    failing,
    warn,
    count,
  )
  return { said, legacy: legacy!, gitlab: gitlab! }
}

test('a read and a write are counted', async () => {
  const { said, legacy } = openClients('timeout')
  await expect(legacy.getProject('1' as ProjectId)).rejects.toThrow(CiError)
  await expect(legacy.restartBuild('1' as BuildId)).rejects.toThrow(CiError)
  expect(said).toEqual(['legacy counted: timeout', 'legacy counted: timeout'])
})

test('admins are told of a key that is refused, by a read or a write', async () => {
  const { said, legacy, gitlab } = openClients('unauthorized')
  await expect(legacy.restartBuild('1' as BuildId)).rejects.toThrow(CiError)
  await expect(gitlab.project('acme/web')).rejects.toThrow(CiError)
  const counted = ['legacy counted: unauthorized', 'gitlab counted: unauthorized']
  expect(said).toEqual([counted[0], LEGACY_REFUSED, counted[1], GITLAB_REFUSED])
})
