import { expect, test } from 'vitest'
import { githubProjectId, gitlabProjectId, toUuid, type SourceName } from '../../src/domain/ids.ts'
import {
  githubSite,
  isOfSites,
  isOwnLink,
  namesProject,
  readBuildAddress,
  type Sites,
} from '../../src/sources/build-address.ts'
import { projectId } from '../support/build-events.ts'

const SITES: Sites = {
  ci: new URL('https://ci.example/app/'),
  github: new URL('https://github.com'),
  gitlab: new URL('https://git.example/gitlab'),
}
const NO_LINK = { projectUuid: toUuid('11111111-aaaa-0000-0000-000000000001'), fullName: 'acme/tools', buildUrl: null }
const BUILDS = {
  ci: { ...NO_LINK, projectId: projectId('11') },
  github: { ...NO_LINK, projectId: githubProjectId('1', '77') },
  gitlab: { ...NO_LINK, projectId: gitlabProjectId('71') },
}

const names = (url: string, source: SourceName) => {
  const address = readBuildAddress(url)
  return address !== null && namesProject(address, SITES, BUILDS[source])
}

test.each<[SourceName, string]>([
  ['ci', 'https://ci.example/app/projects/11/builds/512'],
  ['ci', 'https://ci.example/app/projects/11/builds/512/steps/3?tab=log#end'],
  ['ci', 'https://ci.example/app/projects/11111111-AAAA-0000-0000-000000000001/builds/512'],
  ['ci', 'https://ci.example/app/builds/512'],
  ['github', 'https://github.com/acme/tools/actions/runs/5'],
  ['github', 'https://github.com/Acme/Tools/actions/runs/5/attempts/2?pr=1'],
  ['github', 'https://github.com/acme/tools/actions/runs/5/job/123#step:4:1'],
  ['gitlab', 'https://git.example/gitlab/acme/tools/-/pipelines/5'],
  ['gitlab', 'https://git.example/gitlab/acme/tools/-/pipelines/5/builds'],
])('%s: %s names the project of a build', (source, url) => {
  expect(names(url, source)).toBe(true)
  expect(isOfSites(url, SITES)).toBe(true)
  for (const other of Object.keys(BUILDS) as SourceName[]) if (other !== source) expect(names(url, other)).toBe(false)
})

test.each<[SourceName, string]>([
  ['ci', 'https://ci.example/app/projects/12/builds/512'],
  ['ci', 'https://ci.example/app/projects/22222222-aaaa-0000-0000-000000000001/builds/512'],
  ['github', 'https://github.com/acme/web/actions/runs/5'],
  ['github', 'https://github.com/x/acme/tools/actions/runs/5'],
  ['gitlab', 'https://git.example/gitlab/acme/tools/web/-/pipelines/5'],
])('%s: %s names another project', (source, url) => {
  expect(names(url, source)).toBe(false)
  expect(isOfSites(url, SITES)).toBe(true)
})

test.each<[SourceName, string]>([
  ['ci', 'https://ci.example/projects/11/builds/512'],
  ['ci', 'https://ci.example/application/projects/11/builds/512'],
  ['ci', 'http://ci.example/app/projects/11/builds/512'],
  ['ci', 'https://ci.example:8443/app/projects/11/builds/512'],
  ['ci', 'https://ci.example@x.test/app/projects/11/builds/512'],
  ['github', 'https://github.com.x.test/acme/tools/actions/runs/5'],
  ['github', 'https://x.test/github.com/acme/tools/actions/runs/5'],
  ['gitlab', 'https://git.example/acme/tools/-/pipelines/5'],
  ['gitlab', 'https://git.example/gitlab/../acme/tools/-/pipelines/5'],
  ['ci', 'javascript:alert(1)/builds/5'],
])('%s: %s is of no known source', (source, url) => {
  expect(names(url, source)).toBe(false)
  expect(isOfSites(url, SITES)).toBe(false)
})

test('a page of a known source that is of no build is of a known source', () => {
  expect(readBuildAddress('https://github.com/acme/tools')).toBeNull()
  expect(isOfSites('https://github.com/acme/tools', SITES)).toBe(true)
  expect(isOfSites('no address', SITES)).toBe(false)
})

test("a build's own link counts wherever it leads, with what follows it", () => {
  const linked = { ...BUILDS.github, buildUrl: 'https://ghe.example/acme/tools/actions/runs/5/attempts/2' }
  const isOwn = (url: string) => isOwnLink(readBuildAddress(url)!, linked)
  expect(isOwn('https://ghe.example/acme/tools/actions/runs/5/attempts/2')).toBe(true)
  expect(isOwn('https://ghe.example/acme/tools/actions/runs/5')).toBe(true)
  expect(isOwn('https://ghe.example/acme/tools/actions/runs/5/job/9?pr=1')).toBe(true)
  expect(isOwn('https://ghe.example/acme/tools/actions/runs/51')).toBe(false)
  expect(isOwn('https://x.test/acme/tools/actions/runs/5')).toBe(false)
})

test.each([
  ['https://api.github.com', 'https://github.com/'],
  ['https://api.acme.ghe.com/', 'https://acme.ghe.com/'],
  ['https://git.acme.example/api/v3', 'https://git.acme.example/'],
  ['https://git.acme.example/api/v3/', 'https://git.acme.example/'],
  ['http://127.0.0.1:4020', 'http://127.0.0.1:4020/'],
])("GitHub's pages for %s are at %s", (api, site) => {
  expect(githubSite(api).href).toBe(site)
})
