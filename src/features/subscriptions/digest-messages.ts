import { assertNever } from '../../lib/assert.ts'
import { plain } from '../../slack/messages/blocks.ts'
import { digestLines, digestWords } from '../../slack/messages/digest.ts'
import { DIGEST_ACTION_ID, DIGEST_BLOCK_ID } from '../../slack/messages/ids.ts'
import { answerOf, answerError, line, nextStep, row, small, typed, type Answer } from '../../slack/messages/answer.ts'
import { answerRefused } from '../kit/not-allowed.ts'
import type { DigestOutcome } from './digest.ts'
import { announcedParts } from './messages.ts'

/** The channel's digest schedule, a preview, or why nothing was changed. */
export function answerDigest(outcome: DigestOutcome, { reference }: { reference: string }): Answer {
  switch (outcome.kind) {
    case 'digest':
      return outcome.digest
        ? answerOf([line(`:bar_chart: *Digest*: ${digestWords(outcome.digest)}`), small(HOW_OFF), PREVIEW])
        : none()
    case 'set':
      return answerOf([
        line(`:bar_chart: *Digest set*: ${digestWords(outcome.digest)}.`),
        ...announcedParts(outcome.announced, '/ci digest'),
        PREVIEW,
      ])
    case 'same':
      return answerOf([line(`:bar_chart: *Already set*: ${digestWords(outcome.digest)}.`), PREVIEW])
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

const HOW_OFF = `${typed('/ci digest off')} turns it off.`

const none = (): Answer =>
  answerOf([
    line(':zzz: *This channel has no digest.*'),
    line(nextStep(`Type ${typed('/ci digest weekly mon 9:00')} or ${typed('/ci digest daily 9:00')}.`)),
    PREVIEW,
  ])

const PREVIEW = row(DIGEST_BLOCK_ID, [
  { type: 'button', action_id: DIGEST_ACTION_ID, text: plain('Preview'), value: 'now' },
])

/** The typed schedule is invalid. @param what one sentence without a full stop */
export const answerDigestFault = (what: string, example: string): Answer =>
  answerOf([line(`:mag: *Nothing changed*: ${what}.`), line(nextStep(`Type for example ${typed(example)}.`))])
