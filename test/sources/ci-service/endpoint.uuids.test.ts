import { expect, test } from 'vitest'
import { readPayload } from '../../../src/sources/ci-service/endpoint.ts'

const BUILD = '1b4e28ba-2fa1-11d2-883f-0016d3cca427'
const OTHER = 'f0000000-0000-0000-0000-000000000001'

/** The uuid of the build that a delivery with these fields names. */
function uuidIn(fields: object): string | null {
  const build = { project_id: 41, build_id: 512, status: 'initiated', ...fields }
  const reading = readPayload(Buffer.from(JSON.stringify({ build })))
  if (reading.kind === 'refusal') throw new Error(reading.reason)
  return reading.event.details.buildUuid
}

test.each<[claim: string, fields: object, uuid: string | null]>([
  ['in a field of its own', { build_uuid: BUILD }, BUILD],
  ['in capitals', { build_uuid: BUILD.toUpperCase() }, BUILD],
  ['with spaces around it', { build_uuid: ` ${BUILD} ` }, BUILD],
  ['in an address', { build_url: `https://ci.example/builds/${BUILD}` }, BUILD],
  ['in an address, in capitals', { build_url: `https://ci.example/builds/${BUILD.toUpperCase()}?tab=log` }, BUILD],
  ['in an address with two uuids', { build_url: `https://ci.example/projects/${OTHER}/builds/${BUILD}` }, BUILD],
  ['in the field if both have one', { build_uuid: BUILD, build_url: `https://x/builds/${OTHER}` }, BUILD],
  ['in the address if the field is invalid', { build_uuid: 'none', build_url: `https://x/builds/${BUILD}` }, BUILD],
  ['as the build id', { build_id: BUILD.toUpperCase() }, BUILD],
  ['as the build id, even if the field has another one', { build_id: BUILD, build_uuid: OTHER }, BUILD],
  ['not at all if the address has only the project', { build_url: `https://ci.example/projects/${OTHER}` }, null],
  ['not at all if the address has a number', { build_url: 'https://ci.example/builds/512' }, null],
  ['not at all without any field', {}, null],
])('a delivery gives the uuid of a build %s', (_, fields, uuid) => {
  expect(uuidIn(fields)).toBe(uuid)
})
