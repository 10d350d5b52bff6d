import { describe, expect, it } from 'vitest'
import { matchBranch } from '../../../src/domain/rules/pattern.ts'
import { parseTyped, COMMAND_CHARS_MAX } from '../../../src/slack/commands/parse.ts'
import { patternOf, readSubscribe, typedPattern } from '../../../src/features/subscriptions/subscribe-input.ts'

const read = (text: string) => readSubscribe(parseTyped(text))
const wish = (change: object) => ({
  project: 'acme/web',
  events: null,
  branch: null,
  branchMatch: null,
  quiet: false,
  mention: 'committer',
  ...change,
})

describe('the text after subscribe', () => {
  it.each<[text: string, change: object]>([
    ['acme/web', {}],
    ['ACME/Web', { project: 'ACME/Web' }],
    ['all failed', { project: 'all', events: ['failed'] }],
    ['acme/web failed recovered', { events: ['failed', 'recovered'] }],
    ['acme/web failed,recovered main', { events: ['failed', 'recovered'], branch: 'main', branchMatch: 'exact' }],
    ['acme/web failed, Fixed', { events: ['failed', 'recovered'] }],
    ['acme/web @failed,recovered', { branch: 'failed,recovered', branchMatch: 'exact', events: null }],
    ['acme/web one,two', { branch: 'one,two', branchMatch: 'exact' }],
    ['acme/web passed fixed', { events: ['success', 'recovered'] }],
    ['acme/web success passed', { events: ['success'] }],
    ['acme/web Started WAITING stopped', { events: ['started', 'waiting', 'stopped'] }],
    ['acme/web everything', { events: 'every' }],
    ['acme/web main', { branch: 'main', branchMatch: 'exact' }],
    ['acme/web@main', { branch: 'main', branchMatch: 'exact' }],
    ['acme/web @main', { branch: 'main', branchMatch: 'exact' }],
    ['acme/web release/*', { branch: 'release/*', branchMatch: 'wildcard' }],
    ['acme/web@release/*', { branch: 'release/*', branchMatch: 'wildcard' }],
    ['acme/web ^v[0-9]+$', { branch: '^v[0-9]+$', branchMatch: 'regex' }],
    ['acme/web /v[0-9]+/', { branch: 'v[0-9]+', branchMatch: 'regex' }],
    ['acme/web @failed', { branch: 'failed', branchMatch: 'exact' }],
    ['acme/web@failed failed', { branch: 'failed', branchMatch: 'exact', events: ['failed'] }],
    ['acme/web quiet', { quiet: true }],
    ['acme/web no-mention', { mention: 'nobody' }],
    ['acme/web mention', {}],
    ['acme/web details NAMES', { details: 'names' }],
    [
      'acme/web failed details none main',
      { details: 'none', events: ['failed'], branch: 'main', branchMatch: 'exact' },
    ],
    ['acme/web @details', { branch: 'details', branchMatch: 'exact' }],
    [
      'acme/web no-mention release/* quiet recovered failed',
      { mention: 'nobody', branch: 'release/*', branchMatch: 'wildcard', quiet: true, events: ['recovered', 'failed'] },
    ],
  ])('%s', (text, change) => {
    expect(read(text)).toMatchObject({ kind: 'wish', input: wish(change) })
  })

  it.each<[text: string, reading: object]>([
    ['', { kind: 'nothing' }],
    ['""', { kind: 'nameless', project: null }],
    ['acme/web ""', { kind: 'nameless', project: 'acme/web' }],
    ['acme/web@', { kind: 'nameless', project: 'acme/web' }],
    ['acme/web main next', { kind: 'unclear', extra: 'next' }],
    ['acme/web@main next', { kind: 'unclear', extra: 'next' }],
    ['acme/web faild', { kind: 'near', typed: 'faild', meant: 'failed' }],
    ['acme/web failed,recoverd', { kind: 'near', typed: 'recoverd', meant: 'recovered' }],
    ['acme/web failed,main next', { kind: 'unclear', extra: 'main' }],
    ['acme/web stop', { kind: 'near', typed: 'stop', meant: 'stopped' }],
    ['acme/web failed ^(a', { kind: 'no-branch', typed: '^(a', regex: null }],
    ['acme/web ^open', { kind: 'no-branch', typed: '^open', regex: '^open.*$' }],
    ['acme/web release/.*', { kind: 'no-branch', typed: 'release/.*', regex: '^release/.*$' }],
    ['acme/web @^v$', { kind: 'no-branch', typed: '@^v$', regex: '^v$' }],
    ['acme/web v[0-9]$', { kind: 'no-branch', typed: 'v[0-9]$', regex: '^.*v[0-9]$' }],
    ['acme/web mention no-mention', { kind: 'contradiction', one: 'mention', other: 'no-mention' }],
    ['acme/web details', { kind: 'no-details', typed: null }],
    ['acme/web failed details some main', { kind: 'no-details', typed: 'some' }],
    ['acme/web detail', { kind: 'near', typed: 'detail', meant: 'details' }],
    ['acme/web everything failed', { kind: 'contradiction', one: 'everything', other: 'failed' }],
  ])('%j is refused, and nothing is guessed', (text, reading) => {
    expect(read(text)).toEqual(reading)
  })

  it('is refused if it was not read completely', () => {
    expect(read(`acme/web failed ${'x'.repeat(COMMAND_CHARS_MAX)}`)).toEqual({ kind: 'unclear', extra: '…' })
  })

  it('may contain names that resemble no keyword', () => {
    for (const branch of ['main', 'develop', 'next', 'staging', 'feature/failed', 'test', 'hotfix', 'dev'])
      expect(read(`acme/web ${branch}`), branch).toMatchObject({ kind: 'wish', input: { branch } })
  })
})

describe('a branch pattern as text', () => {
  it.each<[branch: string, branchMatch: string | null]>([
    ['main', 'exact'],
    ['main', null],
    ['release/*', 'wildcard'],
    ['release/*', null],
    ['a*b', 'exact'],
    ['v1.0*(x)', 'exact'],
    ['^v[0-9]+$', 'regex'],
    ['v[0-9]+', 'regex'],
    ['@me', 'exact'],
    ['/x/', 'exact'],
    ['^x$', 'exact'],
    ['^*$', 'wildcard'],
  ])('%j, matched as %s, means the same when it is read back', (branch, branchMatch) => {
    const back = patternOf(typedPattern({ branch, branchMatch }))
    for (const name of [
      'main',
      'release/1',
      'a*b',
      'aXb',
      'v1',
      'v12',
      '@me',
      '/x/',
      '^x$',
      'x',
      'v1.0*(x)',
      '^anything$',
    ])
      expect(matchBranch(back.branch, back.branchMatch, name), name).toBe(matchBranch(branch, branchMatch, name))
  })

  it('is empty for every branch', () => {
    expect(typedPattern({ branch: null, branchMatch: null })).toBe('')
    expect(patternOf('')).toEqual({ branch: null, branchMatch: null })
  })
})
