import { answerOf, line, small, type Answer, type AnswerContext, type Part } from '../../slack/messages/answer.ts'
import { plain } from '../../slack/messages/blocks.ts'
import { PROJECT_ACTION_IDS } from '../../slack/messages/ids.ts'
import { durationWords } from '../../slack/messages/times.ts'
import { answerNotAllowed } from '../kit/not-allowed.ts'
import type { Finding, Verdict } from '../kit/check.ts'
import { counted } from '../../slack/messages/build.ts'
import type { DoctorOutcome, Examined, Found } from './examine.ts'

/** The doctor's findings: faults first, each with its remedy. */
export function answerDoctor(outcome: DoctorOutcome, { reference }: Pick<AnswerContext, 'reference'>): Answer {
  if (outcome.kind === 'findings') return examined(outcome)
  return answerNotAllowed(outcome.kind === 'forbidden' ? outcome.permit : outcome, { action: 'examine', reference })
}

/** More buttons would clutter the answer. The rest is offered once these are done. */
const BUTTONS_MAX = 5

function examined({ findings, tookMs }: Examined): Answer {
  const of = (verdict: Verdict) => findings.filter((one) => one.verdict === verdict)
  const offered = findings.filter(({ addWebhook }) => addWebhook).slice(0, BUTTONS_MAX)
  const notSetUp = offWords(findings)
  return answerOf([
    line(`:stethoscope: ${endWords(findings, (words) => `*${words}*`)}`),
    ...[...of('wrong'), ...of('unsure')].map((found) =>
      offered.includes(found) ? withButton(found) : line(wordsOf(found)),
    ),
    ...of('fine').map((found) => small(wordsOf(found))),
    small(notSetUp === '' ? '' : `${SYMBOLS.off} *Not set up*: ${notSetUp}`),
    small(`Checked in ${durationWords(tookMs)}. \`npm run buildline -- doctor\` checks the same beside the bot.`),
  ])
}

const withButton = ({ addWebhook, ...found }: Found): Part => ({
  kind: 'line',
  text: wordsOf({ ...found, remedy: addWebhook!.remedy }),
  button: {
    type: 'button',
    action_id: PROJECT_ACTION_IDS.addWebhook,
    text: plain('Add webhook rule'),
    value: addWebhook!.uuid,
  },
})

const wordsOf = ({ verdict, title, what, remedy }: Found): string =>
  `${SYMBOLS[verdict]} *${title}*: ${what}${remedy === null ? '' : `\n:wrench: ${remedy}`}`

/** The symbols differ in shape, for people who cannot tell the colours apart. */
const SYMBOLS: Record<Verdict, string> = {
  fine: ':white_check_mark:',
  wrong: ':x:',
  unsure: ':grey_question:',
  off: ':black_square_for_stop:',
}

/** `2 things are wrong, and 1 needs a look.` Checks that gave no result are counted, so that they are not taken as fine. */
export function endWords(findings: readonly Finding[], strong = (words: string): string => words): string {
  const count = (verdict: Verdict) => findings.filter((one) => one.verdict === verdict).length
  const [faults, open] = [count('wrong'), count('unsure')]
  const found = faults === 0 ? 'Nothing is wrong' : `${counted(faults, 'thing')} ${faults === 1 ? 'is' : 'are'} wrong`
  const look = faults === 0 ? `, but ${counted(open, 'thing')}` : `, and ${open}`
  return `${strong(found)}${open === 0 ? '' : `${look} ${open === 1 ? 'needs' : 'need'} a look`}.`
}

/** `GitHub (GITHUB_REPOSITORIES) · GitLab (GITLAB_PROJECTS)`; empty: everything is set up. */
export const offWords = (findings: readonly Found[]): string =>
  findings
    .filter(({ verdict }) => verdict === 'off')
    .map(({ title, what }) => `${title} (${what})`)
    .join(' · ')
