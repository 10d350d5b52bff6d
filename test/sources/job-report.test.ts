import { expect, test } from 'vitest'
import { EXCERPT_LINES_MAX, githubExcerpt, gitlabExcerpt } from '../../src/sources/job-report.ts'

/** A log as GitHub gives it: each line with its time. */
const github = (...lines: readonly string[]): string =>
  lines.map((line) => `2026-11-27T09:15:01.1234567Z ${line}\n`).join('')

const STEP = ['##[group]Run npm test', 'npm test', 'shell: /usr/bin/bash -e {0}', '##[endgroup]']
const EXIT = '##[error]Process completed with exit code 1.'

test('of GitHub it is what the step wrote from its first error on', () => {
  const log = github(
    ...STEP,
    'ok 1',
    '##[error]src/cart.ts(12,3): total is not defined',
    'npm error',
    EXIT,
    'Post job cleanup.',
  )
  expect(githubExcerpt(log)).toEqual(['src/cart.ts(12,3): total is not defined', 'npm error'])
})

test('of GitHub it is the last lines of the step that failed, if it wrote no error', () => {
  const many = Array.from({ length: 40 }, (_, n) => `line ${n}`)
  const log = github(...STEP, 'of the step before', ...STEP, ...many, '', EXIT, 'Cleaning up orphan processes')
  const excerpt = githubExcerpt(log)
  expect(excerpt.at(-1)).toBe('line 39')
  expect(excerpt.length).toBeLessThanOrEqual(EXCERPT_LINES_MAX)
  expect(githubExcerpt(github(...STEP, 'of the step before', ...STEP, 'one', EXIT))).toEqual(['one'])
})

test('of GitLab it is the last lines before the runner’s own, without its sections', () => {
  const trace = [
    'section_start:1764234901:step_script\r\u001b[0K\u001b[0;m\u001b[32;1m$ npm test\u001b[0;m',
    '\u001b[31mnot ok\u001b[0m 1 - sums',
    'progress 10%\rprogress 50%\rprogress 100%',
    'section_end:1764234909:step_script\r\u001b[0Ksection_start:1764234909:cleanup_file_variables\r\u001b[0K\u001b[0;m',
    'Cleaning up project directory and file based variables',
    'section_end:1764234910:cleanup_file_variables\r\u001b[0K\u001b[31;1mERROR: Job failed: exit code 1',
  ].join('\n')
  expect(gitlabExcerpt(trace)).toEqual(['$ npm test', 'not ok 1 - sums', 'progress 100%'])
})

test('a log without line breaks, and one of carriage returns alone, is cut, and takes no time', () => {
  const before = performance.now()
  for (const text of ['x'.repeat(256 * 1024), '\r'.repeat(256 * 1024), '\u001b['.repeat(128 * 1024), '']) {
    for (const excerpt of [githubExcerpt(`${text}${EXIT}`), gitlabExcerpt(text)])
      expect(excerpt.every((line) => line.length <= 300)).toBe(true)
  }
  expect(performance.now() - before).toBeLessThan(5_000)
})

test('text from right to left is kept as it is', () => {
  expect(githubExcerpt(github(...STEP, 'שגיאה: הבדיקה נכשלה', EXIT))).toEqual(['שגיאה: הבדיקה נכשלה'])
})

/** Put together here, so that nobody takes the lines of this file for a key. */
const KEY = [
  ['-----BEGIN RSA PRIV', 'ATE KEY-----'].join(''),
  ...Array.from({ length: 40 }, (_, n) => `MIIEow${'Ab3'.repeat(18)}${n}`),
  ['-----END RSA PRIV', 'ATE KEY-----'].join(''),
]
const TOKEN = `ghp_${'a1'.repeat(18)}`

test.each<[what: string, lines: readonly string[]]>([
  ['a token', [`token=${TOKEN}`]],
  ['a token with colours in it', [`\u001b[31m${TOKEN.slice(0, 3)}\u001b[0m${TOKEN.slice(3)}`]],
  ['a token that a progress bar wrote over', [`working\r${TOKEN}`]],
  ['a token in base64', [Buffer.from(`machine x password ${TOKEN}`).toString('base64')]],
  ['a password in an address', [`git clone https://ada:${TOKEN}@example.com/x.git`]],
  ['a token beyond the end of a line', [`${'x'.repeat(280)} Authorization: Bearer ${TOKEN}`]],
  ['a key in many lines', KEY],
  ['a key whose beginning is not there', KEY.slice(20)],
  ['a key whose end is not there', KEY.slice(0, 20)],
])('%s is in no excerpt', (_, lines) => {
  const excerpts = [
    githubExcerpt(github(...STEP, ...lines, EXIT)),
    githubExcerpt(github(...STEP, '##[error]first', ...lines, EXIT)),
    gitlabExcerpt([...lines, 'ERROR: Job failed: exit code 1'].join('\n')),
  ]
  expect(excerpts.flat().join('\n')).not.toMatch(/a1a1a1|YTFhMW|MIIEow|Ab3Ab3/)
})

test('what looks for secrets in a log takes no time either', () => {
  for (const piece of [
    'ghp_',
    'authorization: ',
    '-----BEGIN ',
    'https://a:',
    'aGVsbG8gd29ybGQ',
    'bearer ',
    'eyJ.',
    '-',
  ]) {
    const beganAt = performance.now()
    gitlabExcerpt(piece.repeat((256 * 1024) / piece.length))
    expect(performance.now() - beganAt, piece).toBeLessThan(2_000)
  }
})
