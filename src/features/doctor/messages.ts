import { codeSpan } from '../../lib/escape.ts'
import { isChannelId } from '../../domain/ids.ts'
import { outside } from '../../slack/messages/build.ts'
import { PROJECT_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime, durationWords } from '../../slack/messages/times.ts'
import type { DoctorOutcome, Examined, Finding, CheckResult, Verdict, Say } from './findings.ts'
import { answerOf, line, small, type Answer, type AnswerContext, type Part } from '../../slack/messages/answer.ts'
import { plain, type ActionButton } from '../../slack/messages/blocks.ts'
import { PROJECT_ACTION_IDS } from '../../slack/messages/ids.ts'
import { CHECK_WORDS, endWords, findingWords } from './words.ts'
import { answerNotAllowed } from '../not-allowed.ts'

/** What the doctor found: faults first, each with how to fix it. */
export function answerDoctor(outcome: DoctorOutcome, { reference }: Pick<AnswerContext, 'reference'>): Answer {
  if (outcome.kind === 'findings') return examined(outcome)
  return answerNotAllowed(outcome.kind === 'forbidden' ? outcome.permit : outcome, { action: 'examine', reference })
}

/** More buttons would clutter the answer. The rest is offered once these are done. */
const BUTTONS_MAX = 5

function examined({ findings, tookMs }: Examined): Answer {
  const of = (verdict: Verdict) => findings.filter((one) => one.verdict === verdict)
  const offered = findings.filter(({ what }) => additionOf(what) !== null).slice(0, BUTTONS_MAX)
  return answerOf([
    line(`:stethoscope: ${endWords(findings, (words) => `*${words}*`)}`),
    ...[...of('wrong'), ...of('unsure')].map((finding) =>
      findingPart(finding, offered.includes(finding) ? additionOf(finding.what) : null),
    ),
    ...[...of('fine'), ...of('off')].map((finding) => small(findingLine(finding))),
    small(`Checked in ${durationWords(tookMs)}. \`npm run buildline -- doctor\` checks the same beside the bot.`),
  ])
}

interface Addition {
  button: ActionButton
  remedy: string
}

/** The button that adds the webhook rule; null: the finding is another one, or no address is known. */
function additionOf(what: CheckResult): Addition | null {
  if ((what.kind !== 'no-webhook-rule' && what.kind !== 'webhook-secret') || what.host === null) return null
  const stays = what.kind === 'webhook-secret' ? ' The rule with the wrong secret stays as it is.' : ''
  return {
    button: {
      type: 'button',
      action_id: PROJECT_ACTION_IDS.addWebhook,
      text: plain('Add webhook rule'),
      value: what.uuid,
    },
    remedy: `Press *Add webhook rule* to see the change and send it: the rule gets the address that other projects have, at ${codeSpan(what.host)}.${stays}`,
  }
}

function findingPart(finding: Finding, addition: Addition | null): Part {
  if (addition === null) return line(findingLine(finding))
  return { kind: 'line', text: findingLine(finding, addition.remedy), button: addition.button }
}

function findingLine(finding: Finding, instead: string | null = null): string {
  const { what, remedy } = findingWords(finding, IN_SLACK)
  const next = instead ?? remedy
  const fix = next === null ? '' : `\n:wrench: ${next}`
  return `${SYMBOLS[finding.verdict]} *${CHECK_WORDS[finding.check].title}*: ${what}${fix}`
}

/** The symbols differ in shape, for people who cannot tell the colours apart. */
const SYMBOLS: Record<Verdict, string> = {
  fine: ':white_check_mark:',
  wrong: ':x:',
  unsure: ':grey_question:',
  off: ':black_square_for_stop:',
}

const IN_SLACK: Say = {
  outside: (text) => outside(text, PROJECT_CHARS_MAX),
  code: codeSpan,
  channel: (id) => (isChannelId(id) ? `<#${id}>` : outside(id, PROJECT_CHARS_MAX)),
  time: (atMs) => dayTime(atMs) ?? 'at an unknown time',
}
