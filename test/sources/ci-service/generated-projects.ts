import * as fc from 'fast-check'
import { ORGANIZATION, uuidOf } from './support.ts'

// Projects of every shape that the answers of CI may have, and a comparison of two JSON texts.

declare global {
  interface JSON {
    rawJSON(text: string): unknown
  }
}

/** The fields that an update leaves out, taken from the table in the interface and not from the source code. */
export const CI_OWN_FIELDS: readonly string[] = [
  'uuid',
  'organization_uuid',
  'name',
  'repository_url',
  'repository_provider',
  'authentication_user',
  'ssh_key',
  'aes_key',
  'created_at',
  'updated_at',
  'test_pipelines',
  'deployment_pipelines',
]

const digits = fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }).map(String)
const longNumber = digits.map((text) => JSON.rawJSON(text))
const leaf = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  longNumber,
  digits,
  fc.boolean(),
  fc.constant(null),
)
const key = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom('__proto__', 'constructor', 'id', 'target', 'options'),
)
const { anything } = fc.letrec((tie) => ({
  anything: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('anything'), { maxLength: 3 }), tie('fields')),
  fields: fc.dictionary(key, tie('anything'), { maxKeys: 3 }),
}))
/** Fields with unknown names. */
const unknownFields = fc.dictionary(
  fc.string({ maxLength: 5 }).map((name) => `x_${name}`),
  anything,
  { maxKeys: 3 },
)
/** Mostly the expected value, but sometimes null or anything else. */
const mostly = <Value>(expected: fc.Arbitrary<Value>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 8, arbitrary: expected },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: leaf },
  )
const withUnknown = (known: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  fc.tuple(unknownFields, known).map(([unknown, fields]) => ({ ...unknown, ...fields }))
const texts = fc.array(fc.string({ maxLength: 8 }), { maxLength: 3 })

export const KNOWN_NOTIFIERS = ['email', 'slack', 'webhook', 'campfire', 'flowdock', 'hipchat', 'grove'] as const
const notifier = fc.constantFrom(...KNOWN_NOTIFIERS, 'Slack', 'repository_status', 'pigeon')

const anyRule = withUnknown(
  fc.record(
    {
      notifier: mostly(notifier),
      target: mostly(fc.constantFrom('all', 'committer')),
      branch: mostly(fc.string({ maxLength: 8 })),
      branch_match: mostly(fc.constantFrom('exact', 'regex', 'wildcard')),
      build_statuses: mostly(fc.subarray(['started', 'failed', 'success', 'recovered', 'waiting', 'deployed'])),
      options: mostly(withUnknown(fc.record({ key: leaf, url: leaf, room: leaf }, { requiredKeys: [] }))),
    },
    { requiredKeys: [] },
  ),
)

const variables = fc.array(withUnknown(fc.record({ name: fc.string(), value: fc.string() })), { maxLength: 3 })

/** A project as CI may answer with it. Everything but the uuid may be missing. */
export const anyProject = withUnknown(
  fc.record(
    {
      uuid: fc.constant(uuidOf(1)),
      organization_uuid: fc.constant(ORGANIZATION),
      name: fc.constant('acme/web'),
      type: mostly(fc.constantFrom('basic', 'pro', 'turbo')),
      repository_url: leaf,
      repository_provider: leaf,
      authentication_user: leaf,
      ssh_key: leaf,
      aes_key: leaf,
      created_at: leaf,
      updated_at: leaf,
      build_on_pr_only: mostly(fc.boolean()),
      branch_match: mostly(fc.constantFrom('include', 'exclude')),
      branches: mostly(texts),
      setup_commands: mostly(texts),
      team_ids: mostly(fc.array(fc.oneof(fc.nat(), longNumber), { maxLength: 4 })),
      test_pipelines: mostly(fc.array(anything, { maxLength: 2 })),
      notification_rules: mostly(fc.array(fc.oneof({ weight: 9, arbitrary: anyRule }, leaf), { maxLength: 4 })),
      environment_variables: mostly(variables),
      deployment_pipelines: mostly(fc.array(anything, { maxLength: 2 })),
    },
    { requiredKeys: ['uuid'] },
  ),
)

/** The value of a JSON text, with each number as the text it was written as: `#18446744073709551615`. */
export const exactly = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? `#${context?.source}` : value,
  )

export type Leaf = { path: readonly (string | number)[]; value: unknown }

/** The leaves of a value; empty lists and objects are leaves. */
export function leavesOf(value: unknown, path: Leaf['path'] = []): Leaf[] {
  const items: [string | number, unknown][] = Array.isArray(value)
    ? value.map((item, at) => [at, item])
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
      : []
  return items.length === 0 ? [{ path, value }] : items.flatMap(([at, item]) => leavesOf(item, [...path, at]))
}
