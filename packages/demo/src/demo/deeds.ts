import type { Shown } from '../../../../src/domain/cards/view.ts'
import { styleOf } from '../../../../src/slack/messages/words.ts'
import type { BuildSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import { APPROVER, CALLED, OWNERS, QUESTIONS, RESTARTER, STOPPER } from '../scenario.ts'
import type { Message } from '../../../sandbox-slack/src/messages.ts'
import type { Asked, Report, Story } from '../service/service.ts'
import { cardsOf } from '../stage.ts'
import { isAskLine, isNoteLine, saysState, type Agreement } from './agreement.ts'

/** What the people of the scenario did, as seen by CI, the channel and the requester. */
export interface Seen {
  asked: readonly Asked[]
  builds: readonly BuildSnapshot[]
  projects: readonly string[]
  /** the test report of the card that is left red; null: there is none */
  report: Report | null
  /** of #builds */
  messages: readonly Message[]
  /** the button that let the waiting build continue; null: none was pressed */
  approves: Story['approves']
  /** what only the requester saw, as text */
  answers: readonly string[]
  /** the owners of the red branch in order, as its card named them; null: none */
  owners: readonly (string | null)[]
  /** the direct messages to the one who is late */
  toldDirectly: readonly string[]
}

/**
 * Compares what the people of the scenario did with the result: each action reached CI exactly once, its build's card
 * shows the result, the thread names the requester once, the committer was mentioned, a red card names the failed tests,
 * its owner, and the end of the owner's time, and each question has an answer.
 */
export function compareDeeds(seen: Seen): Agreement {
  const agreement: Agreement = { lost: [], doubled: [], wrong: [] }
  for (const deed of DEEDS) compareDeed(deed, seen, agreement)
  if (seen.approves !== null) compareApproval(seen.approves, seen, agreement)
  if (!seen.messages.some(isCall)) agreement.lost.push(`no failure calls <@${CALLED}>`)
  if (seen.report && !seen.messages.some((message) => names(message, seen.report!)))
    agreement.lost.push(`no card names the ${seen.report.failed} tests that failed`)
  const [first, second, third] = OWNERS
  for (const line of [
    `<@${first}> is on it until`,
    `<@${second}> is on it until`,
    `<@${second}> handed it to <@${third}> until`,
  ])
    if (!seen.messages.some((message) => isNoteLine(message) && message.text.includes(line)))
      agreement.lost.push(`no thread says: ${line}`)
  if (!seen.owners.some((owner, at) => owner === first && seen.owners[at + 1] === null))
    agreement.lost.push(`no card names <@${first}> as the owner, and later no owner`)
  if (!seen.toldDirectly.some((text) => text.includes('*Already fixed* by acme/api')))
    agreement.lost.push(`<@${third}> was not told that the branch is fixed already`)
  for (const [command, words] of Object.entries(answersOwed(seen))) {
    if (!seen.answers.some((answer) => words.every((word) => answer.includes(word))))
      agreement.lost.push(`no answer to /ci ${command} has ${words.join(', ')}`)
  }
  return agreement
}

const isCall = ({ text }: Message): boolean => text.includes('*Failed*') && text.includes(`<@${CALLED}>`)

function names({ attachments }: Message, { failed, tests, failures }: Report): boolean {
  const card = JSON.stringify(attachments)
  return [`${failed} of ${tests} tests failed`, ...failures.map(({ name }) => `${name} (new)`)].every((words) =>
    card.includes(words),
  )
}

interface Deed {
  action: 'Restart' | 'Stop'
  by: string
  /** what the card shows at the end */
  end: Shown
  /** whether the card still says who asked: once another attempt is on it, only the thread does */
  isOnCard: boolean
}

const DEEDS: readonly Deed[] = [
  { action: 'Restart', by: RESTARTER, end: 'flaky', isOnCard: false },
  { action: 'Stop', by: STOPPER, end: 'stopped', isOnCard: true },
]

function compareDeed(deed: Deed, { asked, builds, messages }: Seen, agreement: Agreement): void {
  const made = asked.filter(({ action }) => action === deed.action)
  const [call] = made
  if (!call) return void agreement.lost.push(`no ${deed.action} reached CI`)
  if (made.length > 1) agreement.doubled.push(`${made.length} calls of ${deed.action} reached CI`)
  const name = call.build
  const build = builds.find(({ id, uuid }) => id === name || uuid === name)
  const [card] = build ? cardsOf(messages, build) : []
  if (!card) return void agreement.lost.push(`no card tells the build ${name}, which got a ${deed.action}`)
  compareCard(deed, card, agreement)
  compareLines(deed, card, messages, agreement)
}

/** The thread says once who let the waiting build go on. */
function compareApproval(label: string, { messages }: Seen, { lost, doubled }: Agreement): void {
  const action = label.replace('…', '')
  const isOwn = ({ text }: Message): boolean =>
    new RegExp(`\\b${action}(?: \\(.*\\))? requested by <@${APPROVER}>`).test(text)
  const lines = messages.filter((message) => message.threadTs !== undefined && isAskLine(message) && isOwn(message))
  if (lines.length === 0) lost.push(`no thread says that <@${APPROVER}> pressed ${label}`)
  if (lines.length > 1) doubled.push(`the thread says ${lines.length} times who pressed ${label}`)
}

function compareCard(deed: Deed, card: Message, { wrong }: Agreement): void {
  if (!saysState(card.text, deed.end))
    wrong.push(`after ${deed.action} the card does not say ${styleOf(deed.end).label}: ${card.text}`)
  if (deed.isOnCard && !JSON.stringify(card.attachments).includes(requested(deed)))
    wrong.push(`the card does not say: ${requested(deed)}`)
}

function compareLines(deed: Deed, { ts }: Message, messages: readonly Message[], { lost, doubled }: Agreement): void {
  const lines = messages.filter((message) => message.threadTs === ts && isAskLine(message))
  const own = lines.filter(({ text }) => text.includes(requested(deed)))
  if (own.length === 0) lost.push(`the thread does not say: ${requested(deed)}`)
  if (lines.length > 1) doubled.push(`the thread says ${lines.length} times who asked`)
}

const requested = ({ action, by }: Deed): string => `${action} requested by <@${by}>`

/** What each answer must have. */
const answersOwed = ({ projects }: Seen): Record<string, readonly string[]> => ({
  list: [`*${projects.length} projects*`, ...projects],
  status: ['acme/web', `*${styleOf('flaky').label}*`, `*${styleOf('stopped').label}*`],
  [QUESTIONS.digest]: [':bar_chart: *', 'A preview up to now'],
})
