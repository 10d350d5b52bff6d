import { describe, expect, it } from 'vitest'
import { badges } from '../../../packages/demo/src/samples/badge.ts'
import { CAST, projectOf, REFERENCE } from '../../../packages/demo/src/samples/cast.ts'
import { ALT_CHARS_MAX, answerBadge, CODE_CHARS_MAX } from '../../../src/features/badge/messages.ts'
import type { AnswerContext } from '../../../src/slack/messages/answer.ts'
import { buttonsOf, linesOf } from '../../golden/answers-stage.ts'

const asked: AnswerContext = { command: 'badge', branch: 'main', reference: REFERENCE }

describe('the answer with a badge', () => {
  const shown = badges(CAST).badge[0].outcome
  const textOf = (change: Partial<typeof shown>) => answerBadge({ ...shown, ...change }, asked).text

  it('says the state in words, with its Markdown to copy', () => {
    expect(linesOf(answerBadge(shown, asked))[0]).toBe(':label: acme/web `main`: *passing*')
    expect(textOf({ markdown: '![a](<b?c&d>)' })).toContain('Markdown\n```![a](&lt;b?c&amp;d&gt;)```')
  })

  it('leaves out Markdown that is too long, since a cut address would be wrong', () => {
    // The two backticks of the code span count too.
    const fitting = 'u'.repeat(CODE_CHARS_MAX - 2)
    expect(textOf({ markdown: fitting })).toContain(fitting)
    expect(textOf({ markdown: `${fitting}u` })).toContain('Too long to show here.')
    expect(textOf({ markdown: `${fitting}u` })).not.toContain('uuu')
  })

  it('has a picture with an alternative text', () => {
    const project = projectOf(`../acme/${'w'.repeat(400)}`)
    const { picture } = answerBadge({ ...shown, project }, { ...asked, rest: ['picture'] })
    expect(Array.from(picture?.alt ?? '')).toHaveLength(ALT_CHARS_MAX)
    expect(answerBadge(shown, { ...asked, rest: ['picture'] }).picture).toMatchObject({
      name: 'badge.png',
      alt: 'acme/web on main: build passing',
    })
  })

  it('has the picture only for a person who pressed its button', () => {
    const answer = answerBadge(shown, asked)
    expect(answer.picture).toBeNull()
    expect(buttonsOf(answer).map(({ text }) => text.text)).toEqual(['Show it here'])
    expect(buttonsOf(answerBadge({ ...shown, picture: null }, asked))).toEqual([])
  })

  it('has no picture if there is none', () => {
    expect(answerBadge({ ...shown, picture: null }, asked).picture).toBeNull()
  })

  it('of a project of GitLab says nothing that is true for the CI service only', () => {
    const project = { projectId: 'gitlab:71', uuid: null, name: 'acme/site', type: 'gitlab' } as const
    expect(answerBadge({ kind: 'no-uuid', project }, asked).text).toContain('Settings → CI/CD')
    expect(answerBadge({ kind: 'no-uuid', project }, asked).text).not.toContain('which CI has not given')
  })
})
