import { describe, expect, it } from 'vitest'
import { attemptRefText, type Action } from '../../src/domain/cards/request.ts'
import type { Shown } from '../../src/domain/cards/view.ts'
import { answerAction } from '../../src/features/builds/action-messages.ts'
import { answerOf, line, row, small, type AnswerContext, TYPED_CHARS_MAX } from '../../src/slack/messages/answer.ts'
import { answerHelp, answerHelpAbout } from '../../src/features/help/slack.ts'
import { answerList } from '../../src/features/list/messages.ts'
import { SEARCHED_MAX } from '../../src/projects/projects.ts'
import { answerNotFound } from '../../src/features/kit/not-found.ts'
import {
  BUILD_AT,
  buildOf,
  CAST,
  OTHER_REF,
  projectOf,
  REFERENCE,
} from '../../packages/demo/src/samples/cast.ts'
import { lists } from '../../packages/demo/src/samples/lists.ts'
import { answerUnknown } from '../../src/features/kit/slips.ts'
import {
  answerFound,
  answerRunning,
  answerStatus,
  BUILDS_LISTED_MAX,
} from '../../src/features/builds/status-messages.ts'
import { parseChoice, parsePage, VALUE_CHARS_MAX } from '../../src/features/kit/values.ts'
import { SECTION_CHARS_MAX, MESSAGE_TEXT_CHARS_MAX } from '../../src/slack/messages/limits.ts'
import { buttonsOf, linesOf, ROWS, valueOf } from './answers-stage.ts'

const asked: AnswerContext = { command: 'stop', branch: 'main', reference: REFERENCE }
const labelsOf = (answer: Parameters<typeof buttonsOf>[0]) => buttonsOf(answer).map(({ text }) => text.text)

describe('a choice between several projects or builds', () => {
  const projects = (count: number, more = 0) =>
    ({
      kind: 'several-projects',
      text: 'web',
      projects: Array.from({ length: count }, (_, at) =>
        projectOf(`acme/web${at}`, { uuid: null, projectId: `${at}` }),
      ),
      more,
    }) as const

  it('has a button for each, which repeats the command with the choice and the branch', () => {
    const buttons = buttonsOf(answerNotFound(projects(5), asked))
    expect(buttons.map(({ action_id }) => action_id)).toEqual([
      'choose_1',
      'choose_2',
      'choose_3',
      'choose_4',
      'choose_5',
    ])
    expect(buttons.map((button) => parseChoice(valueOf(button)))).toEqual(
      [0, 1, 2, 3, 4].map((at) => ({ kind: 'project', command: 'stop', project: `${at}`, branch: 'main' })),
    )
  })

  it('has five buttons and counts the others', () => {
    const answer = answerNotFound(projects(5, 1), asked)
    expect(buttonsOf(answer)).toHaveLength(5)
    expect(answer.text).toContain('*6 projects*')
    expect(answer.text).toContain('… and 1 more')
    expect(answer.text).toContain('Choose one, or type')
    expect(answerNotFound(projects(5), asked).text).not.toContain('more')
    const many = answerNotFound(projects(5, SEARCHED_MAX - 5), asked).text
    expect(many).toContain(`*At least ${SEARCHED_MAX} projects*`)
    expect(many).toContain(`… and at least ${SEARCHED_MAX - 5} more`)
  })

  it('has the uuid as its value, otherwise the id, otherwise the name', () => {
    const chosen = (change: Parameters<typeof projectOf>[1]) => {
      const outcome = { ...projects(0), projects: [projectOf('acme/web', change)] }
      return parseChoice(valueOf(buttonsOf(answerNotFound(outcome, asked))[0]))
    }
    expect(chosen({})).toMatchObject({ project: projectOf('').uuid })
    expect(chosen({ uuid: null })).toMatchObject({ project: '41' })
    expect(chosen({ uuid: null, projectId: null })).toMatchObject({ project: 'acme/web' })
  })

  it('of builds has the attempt as its value', () => {
    const builds = [buildOf(CAST), buildOf(CAST, 'passed', { project: 'acme/api', ref: OTHER_REF })]
    const answer = answerNotFound({ kind: 'several-builds', text: '#512', builds }, asked)
    expect(labelsOf(answer)).toEqual(['1. #512 acme/web', '2. #512 acme/api'])
    expect(buttonsOf(answer).map((button) => parseChoice(valueOf(button)))).toEqual(
      builds.map(({ ref }) => ({ kind: 'run', command: 'stop', ref })),
    )
  })

  it('has no buttons if a branch is too long for one; the text asks to type more', () => {
    const long = answerNotFound(projects(2), { ...asked, branch: 'b'.repeat(VALUE_CHARS_MAX) })
    expect(buttonsOf(long)).toEqual([])
    expect(long.text).toContain('*Next:* Type `/ci stop` with more of the name.')
  })

  it('has no buttons if one value would be too long, since a missing one would go unnoticed', () => {
    const nameless = projectOf('n'.repeat(VALUE_CHARS_MAX), { uuid: null, projectId: null })
    const answer = answerNotFound({ ...projects(2), projects: [...projects(2).projects, nameless] }, asked)
    expect(buttonsOf(answer)).toEqual([])
    expect(answer.text).not.toContain('Choose one')
  })

  it('has numbered buttons as in the text, unless there is only one', () => {
    expect(labelsOf(answerNotFound(projects(2), asked))).toEqual(['1. acme/web0', '2. acme/web1'])
    const nearly = { kind: 'no-project', text: 'wbe', nearest: 'acme/web', isListRead: true } as const
    expect(labelsOf(answerNotFound(nearly, asked))).toEqual(['acme/web'])
  })

  it('is offered for a similar name too, as a button and a line to type, and nothing is done', () => {
    const answer = answerNotFound({ kind: 'no-project', text: 'wbe', nearest: 'acme/web', isListRead: true }, asked)
    expect(answer.text).toContain('Did you mean acme/web? Then type `/ci stop acme/web@main`.')
    expect(parseChoice(valueOf(buttonsOf(answer)[0]))).toEqual({
      kind: 'project',
      command: 'stop',
      project: 'acme/web',
      branch: 'main',
    })
    expect(
      buttonsOf(answerNotFound({ kind: 'no-project', text: 'wbe', nearest: null, isListRead: true }, asked)),
    ).toEqual([])
  })

  it('keeps a similar branch', () => {
    const outcome = { kind: 'no-build', project: 'acme/web', branch: 'mian', nearest: 'main' } as const
    const [button] = buttonsOf(answerNotFound(outcome, { ...asked, branch: 'mian' }))
    expect(parseChoice(valueOf(button))).toMatchObject({ project: 'acme/web', branch: 'main' })
  })
})

describe('a list of projects', () => {
  const page = lists(CAST).projects[1]!.outcome

  it('has buttons to the previous and next page, which carry the whole query', () => {
    const pages = buttonsOf(answerList(page, asked)).map((button) => [button.action_id, parsePage(valueOf(button))])
    const question = { text: 'wbe', type: 'basic' }
    expect(pages).toEqual([
      ['list_prev', { ...question, page: 1 }],
      ['list_next', { ...question, page: 3 }],
    ])
  })

  it('has no button to a page that does not exist', () => {
    const labels = (at: number, pages: number) => labelsOf(answerList({ ...page, page: at, pages }, asked))
    expect([labels(1, 1), labels(1, 2), labels(2, 2)]).toEqual([[], ['Next'], ['Previous']])
  })

  it('has no page buttons if the query is too long for one', () => {
    const query = { ...page.query, text: 't'.repeat(VALUE_CHARS_MAX) }
    expect(buttonsOf(answerList({ ...page, query }, asked))).toEqual([])
  })

  it('names each project with type, state, build, branch and time', () => {
    const [, first] = linesOf(answerList(page, asked))
    expect(first).toMatch(
      /^• acme\/web · Basic · :x: \*Failed\* <https:\/\/ci\.example\/[^|]*\|#512> on `main` · <!date.*> · red since /,
    )
  })

  it('has every line of a page in its text too', () => {
    const whole = answerList({ ...page, projects: Array(10).fill(page.projects[0]) }, asked).text
    expect(whole.match(/^• acme\/web/gm)).toHaveLength(10)
  })
})

describe('builds in an answer', () => {
  const running = buildOf(CAST, 'started')
  const runningAll = (count: number, more = 0) =>
    answerRunning({ kind: 'running', where: 'channel', builds: Array(count).fill(running), more })

  it('that run have each a Stop button with the attempt and a confirmation', () => {
    const [button] = buttonsOf(runningAll(1))
    expect(valueOf(button)).toBe(attemptRefText(running.ref))
    expect(button).toMatchObject({
      action_id: 'build_stop',
      style: 'danger',
      confirm: { title: { text: 'Stop this build?' } },
    })
  })

  it('that cannot be stopped have a reason instead of a button', () => {
    const build = buildOf(CAST, 'started', { offers: [], missing: { action: 'stop', why: 'no-v2' } })
    const answer = answerRunning({ kind: 'running', where: 'channel', builds: [build], more: 0 })
    expect(buttonsOf(answer)).toEqual([])
    expect(answer.text).toContain("no Stop button: CI's v2 interface is not configured")
  })

  it('of more than 15 are cut to 15, with a count of the others', () => {
    expect(buttonsOf(runningAll(BUILDS_LISTED_MAX))).toHaveLength(BUILDS_LISTED_MAX)
    expect(runningAll(BUILDS_LISTED_MAX).text).not.toContain('… and')
    expect(buttonsOf(runningAll(BUILDS_LISTED_MAX + 1))).toHaveLength(BUILDS_LISTED_MAX)
    expect(runningAll(BUILDS_LISTED_MAX + 1, 2).text).toContain('*18 builds run*')
    expect(JSON.stringify(runningAll(BUILDS_LISTED_MAX + 1, 2).blocks)).toContain('… and 3 more')
  })

  it('of a project are summed up: how many branches are red, and since when', () => {
    const red = buildOf(CAST)
    const status = (builds: readonly ReturnType<typeof buildOf>[], count: number, more = 0) =>
      linesOf(answerStatus({ kind: 'project-status', project: projectOf('acme/web'), builds, more, red: count }, asked))
    const passed = buildOf(CAST, 'passed')
    expect(status([red, passed, passed], 2, 5)[0]).toBe(':x: acme/web: *2 of 8 branches are red*')
    expect(status([red, passed, passed], 2, 5).at(-1)).toContain('… and 5 more')
    expect(status([passed, running], 0)[0]).toBe(':information_source: acme/web: *no red branches*')
    expect(status([red, red], 2)[1]).toMatch(/red since <!date\^\d+\^[^>]*> \(3 builds\)$/)
  })

  it("that are their branch's only red one do not say twice since when it is red", () => {
    const since = (change: Parameters<typeof buildOf>[2]) =>
      answerFound(buildOf(CAST, 'failed', { streak: { at: BUILD_AT, builds: 1, atLeast: false }, ...change })).text
    expect(since({})).not.toContain('red since')
    expect(since({ shown: 'started' })).toContain('red since')
  })

  it('with a single one show its commit, with Restart first after a machine error', () => {
    expect(labelsOf(answerFound(buildOf(CAST)))).toEqual(['Open build', 'Restart'])
    const machine = buildOf(CAST, 'infrastructure_failure', { offers: ['restart'] })
    expect(labelsOf(answerFound(machine))).toEqual(['Restart', 'Open build'])
    expect(answerFound(machine).text).toContain('fix login · a1b2c · Ada')
  })

  it('with an open request name the requester, and offer no second request', () => {
    const outcome = {
      kind: 'asked-already',
      action: 'stop',
      build: running,
      by: 'U0LIN',
      at: BUILD_AT,
      state: 'accepted',
    } as const
    expect(answerAction(outcome, asked).text).toContain('<@U0LIN> asked for it')
    expect(labelsOf(answerAction(outcome, asked))).toEqual(['Open build', 'Refresh'])
    expect(answerAction({ ...outcome, by: '<!channel>' }, asked).text).toContain('Somebody asked for it')
  })

  it('can be refreshed by their attempt', () => {
    const outcome = { kind: 'requested', action: 'stop', build: running, newBuildId: null } as const
    expect(parseChoice(valueOf(buttonsOf(answerAction(outcome, asked)).at(-1)))).toEqual({
      kind: 'run',
      command: 'status',
      ref: running.ref,
    })
  })
})

describe("a request that does not fit the build's state", () => {
  const textOf = (action: 'stop' | 'restart', ...of: [shown: Shown, offers: readonly Action[]]) => {
    const build = buildOf(CAST, of[0], { offers: of[1] })
    return answerAction({ kind: 'not-now', action, build }, asked).text
  }

  it('names the state, and offers the action that fits', () => {
    expect(textOf('stop', 'failed', ['restart'])).toMatch(
      /^:x: \*Failed\* acme\/web .* on `main`: \*nothing to stop\*\n/,
    )
    expect(textOf('stop', 'failed', ['restart'])).toContain('*Next:* Press *Restart*')
  })

  it('mentions no button that does not exist', () => {
    expect(textOf('stop', 'failed', [])).toContain('*Next:* Press *Refresh*')
    expect(textOf('restart', 'started', [])).toContain('*Next:* Wait')
  })

  it('does not say that nothing is running if something is', () => {
    expect(textOf('stop', 'waiting', [])).toContain('*not stopped*')
  })
})

describe('the lines of an answer', () => {
  const sections = (chars: number) =>
    answerOf([line('a'.repeat(1_500)), line('b'.repeat(chars))]).blocks.map(({ type }) => type)

  it('share a section up to 3,000 characters, and fill two beyond', () => {
    // A line break counts as a character.
    expect(sections(SECTION_CHARS_MAX - 1_501)).toEqual(['section'])
    expect(sections(SECTION_CHARS_MAX - 1_500)).toEqual(['section', 'section'])
  })

  it('are all in the text up to 4,000 characters; beyond that, the first ones that fit', () => {
    const textOf = (chars: number) => answerOf([line('a'.repeat(3_000)), line('b'.repeat(chars))]).text
    expect(textOf(MESSAGE_TEXT_CHARS_MAX - 3_001)).toHaveLength(MESSAGE_TEXT_CHARS_MAX)
    expect(textOf(MESSAGE_TEXT_CHARS_MAX - 3_000)).toBe(`${'a'.repeat(3_000)}\n… lines left out: 1`)
  })

  it('leave room for the count of those left out', () => {
    const first = 'a'.repeat(MESSAGE_TEXT_CHARS_MAX - 40)
    const { text } = answerOf([line(first), line('b'.repeat(30)), line('c'.repeat(100))])
    expect(text).toBe(`${first}\n… lines left out: 2`)
  })

  it('lose their links before any line is left out', () => {
    const { text } = answerOf([line(`<https://ci.example/${'b'.repeat(2_000)}|#512>`), line('b'.repeat(2_500))])
    expect(text).toBe(`#512\n${'b'.repeat(2_500)}`)
  })

  it('leave no empty lines, and no rows without buttons', () => {
    expect(answerOf([line('a'), line(''), small(''), row('x', [])])).toEqual({
      text: 'a',
      blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'a', verbatim: true } }],
      picture: null,
    })
  })
})

describe('help', () => {
  it('for a command describes it in detail, with its alias', () => {
    const [list, stop] = ['list', 'stop'].map((name) => answerHelpAbout(ROWS.find((one) => one.name === name)!))
    expect(linesOf(stop!)[0]).toBe(':information_source: *stop* stops a running build')
    expect(list!.text).toContain('Usage: `/ci list [text] [basic|pro] [page]`, or `/ci-list`')
  })

  it('groups the commands', () => {
    const all = linesOf(answerHelp(ROWS))
    expect(all.filter((said) => /^\*\w+\*: /.test(said))).toEqual(['*Look*: `list`'])
    expect(all).toContain('• `/ci stop` stops a running build')
  })

  it('shows what was typed, cut to 150 characters', () => {
    const typed = (chars: number) => answerUnknown({ typed: 'x'.repeat(chars), nearest: 'stop' }).text
    expect(typed(TYPED_CHARS_MAX)).toContain(`\`${'x'.repeat(TYPED_CHARS_MAX)}\``)
    expect(typed(TYPED_CHARS_MAX + 1)).toContain(`\`${'x'.repeat(TYPED_CHARS_MAX - 1)}…\``)
  })
})
