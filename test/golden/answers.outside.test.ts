import { describe, expect, it } from 'vitest'
import { buildOf, type Cast } from '../../packages/demo/src/samples/cast.ts'
import { samplesOf } from '../../packages/demo/src/samples/samples.ts'
import { answerRunning, BUILDS_LISTED_MAX } from '../../src/features/builds/status-messages.ts'
import { parseChoice, parseImport, parsePage } from '../../src/features/kit/values.ts'
import { parseAttemptRef } from '../../src/domain/cards/request.ts'
import { isUuid } from '../../src/domain/ids.ts'
import {
  STREAK_ACTION_ID,
  CHOICE_ACTION_IDS,
  PAGE_ACTION_IDS,
  PROJECT_ACTION_IDS,
  SUBSCRIPTION_ACTION_IDS,
} from '../../src/slack/messages/ids.ts'
import { MESSAGE_TEXT_CHARS_MAX } from '../../src/slack/messages/limits.ts'
import { checkMessage } from '../../packages/sandbox-slack/src/limits.ts'
import { ALL_CASTS, buttonsOf, EMPTY, HOSTILE, LONG, ROWS, shownTexts } from './answers-stage.ts'

const NAMED = await Promise.all(ALL_CASTS.map(async ([name, cast]) => ({ name, samples: await samplesOf(ROWS, cast) })))
const samplesWith = (cast: Cast) => NAMED[ALL_CASTS.findIndex(([, one]) => one === cast)]!.samples

describe.each(NAMED)('with names that are $name', ({ samples }) => {
  it('every answer is a valid Slack message, with blocks and without', () => {
    for (const { command, kind, when, answer } of samples) {
      const problems = checkMessage({ text: answer.text, blocks: answer.blocks }, { isUpdate: true })
      expect({ command, kind, when, problems }).toEqual({ command, kind, when, problems: [] })
      expect(checkMessage({ text: answer.text }, { isUpdate: true })).toEqual([])
      expect(answer.text.trim()).not.toBe('')
    }
  })

  it('every button has a value that its handler can read', () => {
    for (const { answer } of samples) for (const button of buttonsOf(answer)) expect(isUnderstood(button)).toBe(true)
  })

  it('no markup is left open, and no line ends inside a mention', () => {
    for (const { answer } of samples)
      for (const text of [answer.text, ...shownTexts(answer)]) {
        expect(text.replaceAll(OUR_MARKUP, '')).not.toMatch(/[<>]/)
        expect(text.split('`').length % 2).toBe(1)
      }
  })
})

/** Times, our own links, people in the samples, groups in the settings, and channels. */
const OUR_MARKUP =
  /<!date\^\d+\^[^|<>]*\|[^<>|]*>|<https:\/\/ci\.example\/[^|<>]*\|[^<>|]*>|<https:\/\/slack\.com\/archives\/C0BUILDS01\/p\d+\|[^|<>]*>|<@U0(?:LIN|ADA|GRACE)>|<!subteam\^S0OPS>|<#C0BUILDS01>/g

function isUnderstood(button: ReturnType<typeof buttonsOf>[number]): boolean {
  if ('url' in button) return button.url.startsWith('https://')
  const ids: readonly string[] = CHOICE_ACTION_IDS
  if (ids.includes(button.action_id)) return parseChoice(button.value) !== null
  const projects: readonly string[] = Object.values(PROJECT_ACTION_IDS)
  if (projects.includes(button.action_id)) return isUuid(button.value)
  if (button.action_id === SUBSCRIPTION_ACTION_IDS.import) return parseImport(button.value) !== null
  if (button.action_id === STREAK_ACTION_ID) return /^\d+$/.test(button.value)
  if (button.action_id.startsWith('subscription')) return /^(?:\d+|new)$/.test(button.value)
  const pages: readonly string[] = Object.values(PAGE_ACTION_IDS)
  return (pages.includes(button.action_id) ? parsePage(button.value) : parseAttemptRef(button.value)) !== null
}

describe('text from outside', () => {
  const texts = samplesWith(HOSTILE).flatMap(({ answer }) => [answer.text, ...shownTexts(answer)])

  it('contains no mention, no link and no emoji', () => {
    expect(texts.join('\n')).toContain('!channel')
    for (const text of texts) {
      expect(text).not.toMatch(/<!channel|<!here|<@U1|<#C1|<https:\/\/evil/)
      // Code spans are not parsed. Outside of them an escaped address has a soft hyphen after its colon.
      expect(text.replaceAll(/`[^`]*`/g, '')).not.toMatch(/:tada:|https:\/\/evil/)
    }
  })

  it('with an unsafe address gets no button', () => {
    const found = samplesWith(HOSTILE).filter(({ kind }) => kind === 'found')
    expect(found.flatMap(({ answer }) => buttonsOf(answer)).map(({ action_id }) => action_id)).toEqual([
      'build_restart',
    ])
  })

  it('is cut visibly, and so is a whole answer', () => {
    const list = samplesWith(LONG).find(({ command, when }) => command === 'list' && when === 'there are projects')!
    expect(list.answer.text).toContain('…')
  })

  it('about many builds is cut after a whole line, with the number of missing ones', () => {
    const builds = Array.from({ length: BUILDS_LISTED_MAX }, () => buildOf(LONG, 'started', { offers: [] }))
    const { text, blocks } = answerRunning({ kind: 'running', where: 'channel', builds, more: 0 })
    const [, cutOff] = /\n… lines left out: (\d+)$/.exec(text) ?? []
    expect(text.length).toBeLessThanOrEqual(MESSAGE_TEXT_CHARS_MAX)
    expect(text.split('\n').length - 1 + Number(cutOff)).toBe(1 + BUILDS_LISTED_MAX)
    expect(checkMessage({ text, blocks })).toEqual([])
  })

  it('that is empty is replaced by words', () => {
    const list = samplesWith(EMPTY).find(({ command, when }) => command === 'list' && when === 'there are projects')!
    expect(list.answer.text).toContain('(no name)')
  })
})
