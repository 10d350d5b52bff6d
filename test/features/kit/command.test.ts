import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseWords } from '../../../src/slack/commands/parse.ts'
import {
  commandAbout,
  parseTarget,
  replyTo,
  type Question,
  type TypedTarget,
} from '../../../src/features/kit/command.ts'
import { answerNameless, answerTooMuch } from '../../../src/features/kit/slips.ts'
import { ada, BUILDS } from './stage.ts'
import { anyText } from '../../support/any-text.ts'

const targetOf = (typed: string): TypedTarget => parseTarget(parseWords(typed))
const project = (name: string, branch: string | null = null): TypedTarget => ({
  kind: 'project',
  project: name,
  branch,
})
const number = (digits: string, of: string | null = null): TypedTarget => ({
  kind: 'build-number',
  number: digits,
  project: of,
})

const UUID = '0A1B2C3D-0000-ffff-0000-0123456789ab'
const uuid = UUID.toLowerCase()

describe('a target', () => {
  it('does not exist if nothing was typed', () => {
    expect(targetOf('  ')).toEqual({ kind: 'none' })
  })

  it.each<[typed: string, target: TypedTarget]>([
    ['acme/web', project('acme/web')],
    ['web', project('web')],
    ['11', project('11')],
    ['<http://acme.web|acme.web>', project('acme.web')],
    ['“acme web”', project('acme web')],
    ['@acme/web', project('@acme/web')],
    ['@', project('@')],
  ])('%s is a project', (typed, target) => {
    expect(targetOf(typed)).toEqual(target)
  })

  it.each<[typed: string, target: TypedTarget]>([
    ['acme/web@main', project('acme/web', 'main')],
    ['acme/web main', project('acme/web', 'main')],
    ['acme/web @main', project('acme/web', 'main')],
    ['acme/web <@U0ADA|main>', project('acme/web', 'main')],
    ['acme/web@ main', project('acme/web', 'main')],
    ['acme/web@ #512', project('acme/web', '#512')],
    ['acme/web@ @login', project('acme/web', '@login')],
    ['acme/web@fix/login#7', project('acme/web', 'fix/login#7')],
    ['acme/web fix/login#7', project('acme/web', 'fix/login#7')],
    ['acme/web@ada@home', project('acme/web', 'ada@home')],
    ['acme/web ada@home', project('acme/web', 'ada@home')],
    ['acme/web@@login', project('acme/web', '@login')],
    ['@acme/web@main', project('@acme/web', 'main')],
    ['“acme web”@main', project('acme web', 'main')],
    ['<http://acme.io/web@v1|acme.io/web@v1>', project('acme.io/web', 'v1')],
    ['acme/web <http://release.io|release.io>', project('acme/web', 'release.io')],
    ['acme/web 512', project('acme/web', '512')],
    ['acme/web@#512', project('acme/web', '#512')],
    [`${UUID} main`, project(uuid, 'main')],
    [`${UUID}@main`, project(uuid, 'main')],
  ])('%s is a branch of a project', (typed, target) => {
    expect(targetOf(typed)).toEqual(target)
  })

  it.each<[typed: string, target: TypedTarget]>([
    ['#512', number('512')],
    ['<#C0123ABC|512>', number('512')],
    ['acme/web #512', number('512', 'acme/web')],
    ['acme/web#512', number('512', 'acme/web')],
    ['#3f2a1b4c', number('3f2a1b4c')],
    ['acme/web #3f2a1b4c', number('3f2a1b4c', 'acme/web')],
    ['#18446744073709551616', number('18446744073709551616')],
  ])('%s is a build', (typed, target) => {
    expect(targetOf(typed)).toEqual(target)
  })

  it.each([
    '512',
    '#',
    '#x',
    '#0512',
    '#5.1',
    '#184467440737095516160',
    '#3f2a1b4',
    '#3f2a1b4c5',
    '<#C0123ABC|builds>',
  ])('%s is not a build number', (typed) => {
    expect(targetOf(typed).kind).toBe('project')
  })

  it('may be the uuid of a build or a project', () => {
    expect(targetOf(UUID)).toEqual({ kind: 'uuid', uuid })
    expect(targetOf(`${UUID}0`)).toEqual(project(`${UUID}0`))
  })

  it.each<[typed: string, url: string]>([
    ['<https://ci.example/projects/11/builds/512>', 'https://ci.example/projects/11/builds/512'],
    ['https://ci.example/projects/11/builds/512', 'https://ci.example/projects/11/builds/512'],
    ['<https://ci.example/b?p=1&amp;b=2>', 'https://ci.example/b?p=1&b=2'],
    ['<http://ci.example/builds/512|ci.example/builds/512>', 'http://ci.example/builds/512'],
    ['<https://ci.example/builds/512/|the red one>', 'https://ci.example/builds/512/'],
    ['<https://git.example/acme/web/-/pipelines/7|the red one>', 'https://git.example/acme/web/-/pipelines/7'],
  ])('%s is the address of a build', (typed, url) => {
    expect(targetOf(typed)).toEqual({ kind: 'build-url', url })
  })

  it.each<[typed: string, extra: string]>([
    ['acme/web main acme/api', 'acme/api'],
    ['acme/web@main acme/api', 'acme/api'],
    ['#512 #513', '#513'],
    ['#512 acme/web', 'acme/web'],
    ['<https://ci.example/builds/512> main', 'main'],
    ['acme/web https://ci.example/builds/512', 'https://ci.example/builds/512'],
    ['acme/web@main #512', '#512'],
    ['acme/web main ""', ''],
    ['#512 ""', ''],
    ['acme/web@main ""', ''],
    ['acme/web@ https://ci.example/builds/512', 'https://ci.example/builds/512'],
  ])('is not guessed from too many words: %s', (typed, extra) => {
    expect(targetOf(typed)).toEqual({ kind: 'unclear', extra })
  })

  it.each<[typed: string, project: string | null]>([
    ['acme/web@', 'acme/web'],
    ['acme/web@@', 'acme/web'],
    ['acme/web @', 'acme/web'],
    ['acme/web ""', 'acme/web'],
    ['acme/web “ ”', 'acme/web'],
    ['acme/web@ ""', 'acme/web'],
    ['“acme web”@', 'acme web'],
    [`${UUID}@`, uuid],
    [`${UUID} ""`, uuid],
    ['""', null],
    [`''`, null],
    ['"" main', null],
  ])('is nothing if a name was begun and left empty: %s', (typed, branchOf) => {
    expect(targetOf(typed)).toEqual({ kind: 'nameless', project: branchOf })
  })

  it('is the same with one word or two, whatever the branch is called', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9._-]{0,9}\/[a-z][a-z0-9._-]{0,9}[a-z0-9]$/)
    const branch = fc.stringMatching(/^[a-zA-Z0-9][a-zA-Z0-9/@#._-]{0,20}[a-zA-Z0-9]$/)
    fc.assert(
      fc.property(name, branch, (one, other) => {
        expect(targetOf(`${one}@${other}`)).toEqual(project(one, other))
        expect(targetOf(`${one} ${other}`)).toEqual(project(one, other))
      }),
    )
  })

  it('from any words is of one of the known kinds, without empty names', () => {
    const word = fc.record({ text: anyText({ minLength: 1, maxLength: 10 }) })
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        expect(Object.values(parseTarget(words))).not.toContain('')
        expect(parseTarget(words).kind === 'none').toBe(words.length === 0)
      }),
    )
  })
})

describe('a command about a build or a project', () => {
  const asked: unknown[] = []
  const look = commandAbout(
    {
      name: 'look',
      alias: null,
      group: 'Look',
      usage: '[project]',
      does: 'looks',
      examples: ['/ci look'],
      who: 'everyone',
    },
    async (_, target) => {
      asked.push(target)
      return replyTo({ kind: 'looked' }, null)
    },
  )
  const ask = (text: string, thread: Question['thread'] = null) =>
    look.handle({
      row: look,
      commands: [look],
      words: parseWords(text),
      text,
      thread,
      by: { user: ada, team: 'T0SANDBOX1', channel: BUILDS, via: 'command', interactionKey: text },
      modalOpener: null,
      reference: '1',
    })

  it('is asked about what was typed, else about the build in whose thread it was typed, else about nothing', async () => {
    const thread = { kind: 'build-number', number: '7', project: null } as const
    for (const [text, about] of [['acme/web', thread], ['', thread], ['']] as const)
      expect(await ask(text, about)).toEqual({ outcome: 'looked', answer: null })
    expect(asked).toEqual([project('acme/web'), thread, null])
  })

  it('is not asked if it was mistyped; the person is told how it is typed', async () => {
    const before = asked.length
    const usage = '/ci look [project]'
    expect((await ask('a b c')).answer).toEqual(answerTooMuch({ extra: 'c', usage, example: '/ci look' }))
    expect((await ask('acme/web@')).answer).toEqual(
      answerNameless({ branchOf: 'acme/web', usage, example: '/ci look acme/web@branch' }),
    )
    expect((await ask('“”')).answer).toEqual(
      answerNameless({ branchOf: null, usage, example: '/ci look project@branch' }),
    )
    expect(asked).toHaveLength(before)
  })
})
