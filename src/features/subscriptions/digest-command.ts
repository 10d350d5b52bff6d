import { typed, type Answer, answerOf, answerError, line, nextStep, small } from '../../slack/messages/answer.ts'
import { WEEKDAYS, digestLines, digestWords } from '../../slack/messages/digest.ts'
import {
  replyTo,
  tooLittle,
  tooMuch,
  whenMayRead,
  type AnswerDeps,
  type Command,
  type Question,
} from '../kit/command.ts'
import type { Reply } from '../kit/context.ts'
import {
  previewDigest,
  setDigest,
  showDigest,
  turnOffDigest,
  type DigestDeps,
  type DigestInput,
  type DigestOutcome,
} from './digest.ts'
import { assertNever } from '../../lib/assert.ts'
import { answerRefused } from '../kit/not-allowed.ts'
import { announcedParts } from './messages.ts'

type Deps = AnswerDeps & DigestDeps

export const digest = (deps: Deps): Command => ({
  name: 'digest',
  alias: null,
  group: 'Follow',
  usage: '[daily 9:00 | weekly mon 9:00 | now | off] [time zone]',
  does: 'posts a summary of the builds, every day or every week; alone, it shows when',
  examples: [
    '/ci digest',
    '/ci digest daily 9:00',
    '/ci digest weekly mon 9:00 Europe/Berlin',
    '/ci digest now',
    '/ci digest off',
  ],
  who: 'members',
  notes: [
    'It covers the day before, or the seven days before, for the projects that the channel follows. It mentions nobody.',
    'Without a time zone, your own in Slack is used. `now` shows you what it would say today.',
  ],
  handle: (question) => answerTyped(deps, question),
})

/** `/ci digest weekly mon 9:00 Europe/Berlin` */
async function answerTyped(deps: Deps, question: Question): Promise<Reply> {
  const { by, row: command, words, reference } = question
  const [first = '', ...others] = words.map(({ text }) => text)
  const kind = first.toLowerCase()
  if (kind === 'daily' || kind === 'weekly') {
    const reading = readDigestInput(kind, others, question)
    return 'outcome' in reading ? reading : reply(await setDigest(deps, reading, by), reference)
  }
  if (!['', 'now', 'off'].includes(kind)) {
    const kinds = ['daily', 'weekly', 'now', 'off'].map(typed).join(', ')
    return unclear(answerDigestFault(`${typed(first)} is not one of ${kinds}`, '/ci digest weekly mon 9:00'))
  }
  const [extra] = others
  if (extra !== undefined) return tooMuch(command, extra)
  if (kind === 'off') return reply(await turnOffDigest(deps, by), reference)
  return whenMayRead(deps, question, async () =>
    reply(await (kind === 'now' ? previewDigest(deps, by) : showDigest(deps, by)), reference),
  )
}

const reply = (outcome: DigestOutcome, reference: string): Reply =>
  replyTo(outcome, answerDigest(outcome, { reference }))

const unclear = (answer: Answer): Reply => ({ outcome: 'unclear', answer })

function readDigestInput(
  kind: DigestInput['kind'],
  words: readonly string[],
  { row: command }: Question,
): DigestInput | Reply {
  const example = kind === 'weekly' ? '/ci digest weekly mon 9:00' : '/ci digest daily 9:00'
  const [day = ''] = words
  const [time, zone = null, extra] = kind === 'weekly' ? words.slice(1) : words
  if (kind === 'weekly' && words.length === 0) return tooLittle(command, 'a weekday and a time', example)
  const weekday = kind === 'weekly' ? weekdayOf(day) : null
  if (weekday === 0) return unclear(answerDigestFault(`${typed(day)} is not a weekday`, example))
  if (time === undefined) return tooLittle(command, 'a time of day', example)
  const minute = minuteOf(time)
  if (minute === null) return unclear(answerDigestFault(`${typed(time)} is not a time of day`, example))
  if (extra !== undefined) return tooMuch(command, extra, example)
  return { kind, weekday, minute, zone }
}

/** The number of a weekday, by at least the first two letters of its name; 0: there is none. */
const weekdayOf = (text: string): number =>
  text.length < 2 ? 0 : WEEKDAYS.findIndex((day) => day.toLowerCase().startsWith(text.toLowerCase())) + 1

/** `9:00`, `09:30`, `17` */
function minuteOf(text: string): number | null {
  const [, hour, minute = '0'] = /^(\d{1,2})(?::(\d{2}))?$/.exec(text) ?? []
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59) return null
  return Number(hour) * 60 + Number(minute)
}

/** The channel's digest schedule, a preview, or why nothing was changed. */
export function answerDigest(outcome: DigestOutcome, { reference }: { reference: string }): Answer {
  switch (outcome.kind) {
    case 'digest':
      return outcome.digest
        ? answerOf([line(`:bar_chart: *Digest*: ${digestWords(outcome.digest)}`), small(HOW)])
        : none()
    case 'set':
      return answerOf([
        line(`:bar_chart: *Digest set*: ${digestWords(outcome.digest)}.`),
        ...announcedParts(outcome.announced, '/ci digest'),
      ])
    case 'same':
      return answerOf([line(`:bar_chart: *Already set*: ${digestWords(outcome.digest)}.`)])
    case 'off':
      return answerOf([line(':bar_chart: *Digest turned off*.'), ...announcedParts(outcome.announced, '/ci digest')])
    case 'off-already':
      return answerOf([
        line(':mag: *Nothing changed*: this channel has no digest.'),
        line(nextStep(`Type ${typed('/ci digest')} to see how to set one.`)),
      ])
    case 'preview':
      return answerOf([
        ...digestLines(outcome.view),
        small('A preview up to now, visible only to you. The digest also has a chart.'),
      ])
    case 'no-zone':
      return answerDigestFault(`there is no time zone ${typed(outcome.zone)}`, '/ci digest daily 9:00 Europe/Berlin')
    case 'no-channel':
      return answerError({
        what: ':mag: *Not a channel*: only channels can have a digest.',
        why: null,
        next: 'Type the same in the channel that should get it.',
      })
    case 'forbidden':
    case 'unknown-person':
      return answerRefused(outcome, reference)
    default:
      return assertNever(outcome)
  }
}

const HOW = `${typed('/ci digest now')} shows what it would say today, ${typed('/ci digest off')} turns it off.`

const none = (): Answer =>
  answerOf([
    line(':zzz: *This channel has no digest.*'),
    line(nextStep(`Type ${typed('/ci digest weekly mon 9:00')} or ${typed('/ci digest daily 9:00')}.`)),
    small(`${typed('/ci digest now')} shows what it would say.`),
  ])

/** The typed schedule is invalid. @param what one sentence without a full stop */
export const answerDigestFault = (what: string, example: string): Answer =>
  answerOf([line(`:mag: *Nothing changed*: ${what}.`), line(nextStep(`Type for example ${typed(example)}.`))])
