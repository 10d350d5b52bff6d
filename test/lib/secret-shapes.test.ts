import { describe, expect, test } from 'vitest'
import { maskSecrets } from '../../src/lib/secret-shapes.ts'

/** In two parts, so that no scanner of this repository takes it for a secret. */
const REST = 'a1B2c3D4e5F6g7H8i9J0k1L2'

const GITLAB = ['pat', 'dt', 'rt', 'cbt', 'ptt', 'ft', 'soat', 'imt', 'agent', 'oas'].map((kind) => `gl${kind}-`)
const GITHUB_AND_SLACK = ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_', 'xoxb-', 'xoxp-', 'xapp-']
const OTHERS = ['AIza', 'npm_', 'hf_', 'sk-', 'sk_', 'rk-', 'rk_', 'eyJ']
const TOKENS = [...GITHUB_AND_SLACK, ...GITLAB, ...OTHERS].map((beginning) => beginning + REST)

const REPORT_SECRETS = ['github:77.', 'gitlab:9.'].map((beginning) => `${beginning}${'a7'.repeat(32)}`)
const KEYS = [...['AKIA', 'ASIA'].map((beginning) => `${beginning}${'Q7'.repeat(8)}`), ...REPORT_SECRETS]

describe('a secret', () => {
  test.each([...TOKENS, ...KEYS])('of the form %s is hidden, alone and in a line', (secret) => {
    expect(maskSecrets(secret)).toBe('***')
    expect(maskSecrets(`token: ${secret}, and more`)).toBe('token: ***, and more')
  })

  test.each([
    [`Authorization: Basic ${REST}`, 'Authorization:***'],
    [`AUTHORIZATION=${REST}`, 'AUTHORIZATION=***'],
    [`sent with bearer ${REST}`, 'sent with bearer ***'],
    [`https://ci:${REST}@git.example/acme`, 'https://***@git.example/acme'],
    [`url=https%3A%2F%2Fci%3A${REST}%40git.example`, 'url=https%3A%2F%2F***%40git.example'],
  ])('in %s is hidden', (text, shown) => expect(maskSecrets(text)).toBe(shown))

  test.each(TOKENS)('of the form %s is hidden in base64, too', (secret) => {
    const encoded = Buffer.from(`user:${secret}`).toString('base64')
    expect(maskSecrets(`header ${encoded}`)).not.toContain(encoded)
  })

  test.each([0, 1, 2, 3, 4, 5])(
    'of the shortest form is hidden in the base64 of other bytes, %i before it',
    (before) => {
      const bytes = Buffer.concat([
        Buffer.alloc(before, 0xff),
        Buffer.from(`ghp_${REST.slice(0, 4)}`),
        Buffer.alloc(7, 0xfe),
      ])
      expect(maskSecrets(bytes.toString('base64'))).toBe('***')
    },
  )
})

test.each([
  'expected 200 to be 302',
  'at Object.<anonymous> (/home/runner/work/web/web/test/login.test.ts:12)',
  'task-manager, desk-lamp and brisk_walk',
  'see https://git.example/acme/web/-/jobs/512',
])('%s is no secret', (text) => expect(maskSecrets(text)).toBe(text))
