import { createHmac } from 'node:crypto'
import { createCiServiceEndpoint } from '../../src/sources/ci-service/endpoint.ts'
import type { Endpoint } from '../../src/sources/endpoint.ts'
import { createGithubEndpoint } from '../../src/sources/github/endpoint.ts'
import { createGitlabEndpoint } from '../../src/sources/gitlab/endpoint.ts'
import { createReportEndpoint } from '../../src/sources/report.ts'

// Bodies of the largest accepted size that cost the most to read, for each webhook.

export const SECRET = 'a-secret-of-these-bodies'

/** A JSON text of so many bytes, or a few less, in which the text `unit` is repeated. */
type Shape = (bytes: number) => string

const listOf =
  (unit: string): Shape =>
  (bytes) =>
    `[${`${unit},`.repeat(Math.floor((bytes - 2) / (unit.length + 1)) - 1)}${unit}]`

const text =
  (unit: string): Shape =>
  (bytes) =>
    `"${unit.repeat(Math.floor((bytes - 2) / Buffer.byteLength(unit)))}"`

/** A different one each time, always as long. */
const listOfDifferent =
  (one: (name: string) => string, [open, close] = '[]'): Shape =>
  (bytes) => {
    const count = Math.floor((bytes - 2) / (one('00000').length + 1))
    return `${open}${Array.from({ length: count }, (_, n) => one(n.toString(36).padStart(5, '0'))).join(',')}${close}`
  }

export const SHAPES: Readonly<Record<string, Shape>> = {
  '{},{},…': listOf('{}'),
  '[],[],…': listOf('[]'),
  'lists in lists': listOf(`${'['.repeat(50)}${']'.repeat(50)}`),
  'objects with a field of their own': listOfDifferent((name) => `{"${name}":1}`),
  'fields with a name of their own': listOfDifferent((name) => `"${name}":1`, '{}'),
  'texts of their own': listOfDifferent((name) => `"${name}"`),
  '"","",…': listOf('""'),
  '1,1,…': listOf('1'),
  'numbers of 17 digits': listOf('12345678901234567'),
  fractions: listOf('1.5'),
  exponents: listOf('1e308'),
  'one long text': text('a'),
  'one long text in another script': text('日'),
  escapes: text(String.raw`\n`),
  'escaped quotes': text(String.raw`\"`),
  'escaped letters': text(String.raw`\u00e9`),
  'one string without an end': (bytes) => `"${String.raw`\"`.repeat((bytes - 1) / 2)}`,
  'one number': (bytes) => '1'.repeat(bytes),
  blanks: (bytes) => `${' '.repeat(bytes - 1)}1`,
}

/** A webhook, with deliveries of which one field may hold anything. */
export interface Webhook {
  name: string
  endpoint: Endpoint
  path: string
  headers(body: string): Record<string, string>
  /** by the field */
  deliveries: Readonly<Record<string, (inner: string) => string>>
}

const LONG = '12345678901234567'

const gitlab = (more: string, commit = '{}') =>
  `{"n":${LONG},"object_attributes":{"id":31,"status":"failed"},"project":{"id":1,"path_with_namespace":"acme/web"},"commit":${commit},${more}}`

const github = (more: string, commit = '{}') =>
  `{"n":${LONG},"workflow_run":{"id":9,"workflow_id":7,"head_commit":${commit}},"repository":{"id":1,"full_name":"acme/web"},${more}}`

const ci = (more: string) => `{"n":${LONG},"build":{"project_id":11,"build_id":512,"status":"error",${more}}}`

const report = (more: string) => `{"n":${LONG},"build":{"project_id":11,"build_id":512},"report":{"failed":1,${more}}}`

export const WEBHOOKS: readonly Webhook[] = [
  {
    name: 'GitLab',
    endpoint: createGitlabEndpoint([SECRET], Date.now),
    path: '/webhooks/gitlab',
    headers: () => ({ 'x-gitlab-event': 'Pipeline Hook', 'x-gitlab-token': SECRET }),
    deliveries: {
      x: (inner) => gitlab(`"x":${inner}`),
      builds: (inner) => gitlab(`"builds":${inner}`),
      'commit.message': (inner) => gitlab('"x":1', `{"message":${inner}}`),
      'commit.author': (inner) => gitlab('"x":1', `{"author":${inner}}`),
    },
  },
  {
    name: 'GitHub',
    endpoint: createGithubEndpoint([SECRET]),
    path: '/webhooks/github',
    headers: (body) => ({
      'x-github-event': 'workflow_run',
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    }),
    deliveries: {
      x: (inner) => github(`"x":${inner}`),
      'workflow_run.head_commit.message': (inner) => github('"x":1', `{"message":${inner}}`),
      'workflow_run.head_commit.author': (inner) => github('"x":1', `{"author":${inner}}`),
    },
  },
  {
    name: 'the CI service',
    endpoint: createCiServiceEndpoint(() => true),
    path: `/webhooks/builds/${SECRET}`,
    headers: () => ({}),
    deliveries: { x: (inner) => ci(`"x":${inner}`), message: (inner) => ci(`"message":${inner}`) },
  },
  {
    name: 'reports',
    endpoint: createReportEndpoint(() => true),
    path: `/webhooks/reports/${SECRET}`,
    headers: () => ({}),
    deliveries: {
      x: (inner) => report(`"x":${inner}`),
      failures: (inner) => report(`"failures":${inner}`),
      log: (inner) => report(`"log":${inner}`),
      tests: (inner) => report(`"tests":${inner}`),
    },
  },
]

/** A delivery with this shape in this field, of the largest size that the webhook accepts, or a few bytes less. */
export function worstBody({ endpoint, deliveries }: Webhook, field: string, shape: string): string {
  const delivery = deliveries[field]!
  return delivery(SHAPES[shape]!(endpoint.bodyBytesMax - delivery('').length))
}
