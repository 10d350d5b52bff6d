import { expect, test } from 'vitest'
import { readPayload } from '../../../src/sources/ci-service/webhook/payload.ts'

const BUILD = '1b4e28ba-2fa1-11d2-883f-0016d3cca427'
const OTHER = 'f0000000-0000-0000-0000-000000000001'

/** The build's uuid, as a delivery with these fields names it. */
function uuidIn(fields: object): string | null {
  const build = { project_id: 41, build_id: 512, status: 'initiated', ...fields }
  const reading = readPayload(Buffer.from(JSON.stringify({ build })))
  if (reading.kind === 'refusal') throw new Error(reading.reason)
  return reading.seen.details.buildUuid
}

test.each<[claim: string, fields: object, uuid: string | null]>([
  ['in a field of its own', { build_uuid: BUILD }, BUILD],
  ['in capitals', { build_uuid: BUILD.toUpperCase() }, BUILD],
  ['with blanks around', { build_uuid: ` ${BUILD} ` }, BUILD],
  ['in its address', { build_url: `https://ci.example/builds/${BUILD}` }, BUILD],
  ['in its address, in capitals', { build_url: `https://ci.example/builds/${BUILD.toUpperCase()}?tab=log` }, BUILD],
  ['after the project’s', { build_url: `https://ci.example/projects/${OTHER}/builds/${BUILD}` }, BUILD],
  ['in the field, whatever the address has', { build_uuid: BUILD, build_url: `https://x/builds/${OTHER}` }, BUILD],
  ['in the address where the field is none', { build_uuid: 'none', build_url: `https://x/builds/${BUILD}` }, BUILD],
  ['as its id', { build_id: BUILD.toUpperCase() }, BUILD],
  ['as its id, whatever a field says', { build_id: BUILD, build_uuid: OTHER }, BUILD],
  ['nowhere: the address has the project’s alone', { build_url: `https://ci.example/projects/${OTHER}` }, null],
  ['nowhere: the address has a number', { build_url: 'https://ci.example/builds/512' }, null],
  ['nowhere', {}, null],
])('a build is named by its uuid %s', (_, fields, uuid) => {
  expect(uuidIn(fields)).toBe(uuid)
})
