import type { Decision } from '../../../sandbox-ci/src/deliveries.ts'
import type { BuildSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import type { Standing } from '../../../sandbox-slack/src/panel-state.ts'
import type { Message } from '../../../sandbox-slack/src/messages.ts'
import type { Sent, Service } from '../service/service.ts'
import { cardsOf } from '../stage.ts'
import { agrees, compareBuilt, compareNotice, isLeftOut, isRulesLine, type Agreement } from './agreement.ts'
import { sentBuilds, type SentBuild } from './sent.ts'

/** What CI sent, and what a channel that follows every project by CI's own rules shows. */
export interface Evidence extends Pick<Service, 'isPolled' | 'namesAttempts'> {
  builds: readonly BuildSnapshot[]
  deliveries: readonly Sent[]
  decisions: readonly Decision[]
  messages: readonly Message[]
  /** builds that were under way while the rules changed: by which rules they are told is not known */
  uncounted: ReadonlySet<string>
  /** whether the bot may still be at work on what it took: away, hindered, or with something in its queues */
  isBusy: boolean
}

/** News that Slack shows, or does not show yet: when the bot took it (ms), and the card where there is one. */
export interface StepResult {
  name: string
  takenAt: number
  /** null: Slack does not show it */
  cardTs: string | null
}

/**
 * Holds what Slack shows against what CI sent and the bot took. What the bot may still be at work on is on its way;
 * only what it has done with and Slack does not show is lost. A double is one at once.
 */
export function judge(evidence: Evidence): { standing: Standing; told: StepResult[] } {
  const standing: Standing = { lost: [], doubled: [], wrong: [], right: 0, onTheWay: 0, notTaken: 0, notCounted: 0 }
  const told: StepResult[] = []
  const sent = sentBuilds(evidence.builds, evidence.deliveries, evidence.namesAttempts)
  const built = sent.filter(({ build }) => !isLeftOut(build))
  const messagesOf = index(evidence.messages)
  const chosen = choices(evidence.decisions)
  const rulesLines = evidence.messages.filter(isRulesLine)
  const isUncounted = ({ build, isAmbiguous, takenAt }: SentBuild) =>
    isAmbiguous || evidence.uncounted.has(build.id) || rulesLines.some((line) => isAbout(line, build, takenAt))
  const revisions = Map.groupBy(built, ({ build }) => `${build.project} ${build.branch} ${build.commitId}`)
  for (const own of revisions.values())
    judgeRevision(own, { evidence, isUncounted, messagesOf, chosen, standing, told })
  judgeNotice(sent, { evidence, isUncounted, standing })
  return { standing, told }
}

interface Judging {
  evidence: Evidence
  isUncounted: (one: SentBuild) => boolean
  messagesOf: MessagesOf
  chosen: Map<string, Choice>
  standing: Standing
  told: StepResult[]
}

/** Whether this line subscribed the channel to the build's project before the bot accepted the build. */
const isAbout = ({ ts, text }: Message, { project }: BuildSnapshot, takenAt: number | null): boolean =>
  (text.includes(project) || text.includes(' to all projects')) && (takenAt ?? Infinity) > Number(ts) * 1_000

function judgeRevision(own: readonly SentBuild[], judging: Judging): void {
  const { evidence, messagesOf, chosen, standing, told } = judging
  const builds = own.map(({ build }) => build)
  if (own.some(judging.isUncounted)) return void (standing.notCounted += own.length)
  const choice = choiceOf(builds, chosen)
  if (choice === 'none') return
  const messages = messagesOf(builds)
  const found = choice === 'all' ? compareBuilt(builds, messages) : compareCards(builds, messages)
  standing.doubled.push(...found.doubled)
  const untaken = own.filter(({ isTaken }) => !isTaken).length
  if (untaken > 0) return countUntaken(untaken, found, evidence, standing)
  const isRight = count(found, evidence.isBusy, standing)
  const takenAt = Math.max(...own.map((one) => one.takenAt ?? 0))
  const cardTs = isRight ? (messages[0]?.ts ?? null) : null
  told.push({ name: `${builds.at(-1)!.project} #${builds.at(-1)!.id}`, takenAt, cardTs })
}

/** What was not delivered, but is shown, the bot has found by asking. */
function countUntaken(untaken: number, found: Agreement, { isPolled }: Evidence, standing: Standing): void {
  if (isPolled && agrees(found)) standing.right += 1
  else standing.notTaken += untaken
}

/** Whether it is right. What is missing and may still come is on its way. */
function count({ lost, wrong }: Agreement, isBusy: boolean, standing: Standing): boolean {
  if (lost.length + wrong.length === 0) standing.right += 1
  else if (isBusy) standing.onTheWay += 1
  else {
    standing.lost.push(...lost)
    standing.wrong.push(...wrong)
  }
  return lost.length + wrong.length === 0
}

/** Where the rules leave out some of what happened, only whether there is one card is known. */
function compareCards(builds: readonly BuildSnapshot[], messages: readonly Message[]): Agreement {
  const cards = new Set(builds.flatMap((build) => cardsOf(messages, build)))
  const newest = builds.at(-1)!
  const name = `${newest.project} #${newest.id}`
  return {
    lost: cards.size === 0 ? [`no card tells ${name}`] : [],
    doubled: cards.size > 1 ? [`${cards.size} cards tell ${name}`] : [],
    wrong: [],
  }
}

/** Attempts that the account did not allow are told by one notice that counts them. */
function judgeNotice(
  sent: readonly SentBuild[],
  { evidence: { messages, isBusy }, isUncounted, standing }: Pick<Judging, 'evidence' | 'isUncounted' | 'standing'>,
): void {
  const account = sent.filter(({ build }) => build.runs.some(isLeftOut))
  const stillOut = account.filter(({ build }) => isLeftOut(build))
  if (account.some(isUncounted)) return void (standing.notCounted += stillOut.length)
  const untaken = stillOut.filter(({ isTaken }) => !isTaken).length
  standing.notTaken += untaken
  const found = compareNotice(
    account.map(({ build }) => build),
    messages,
  )
  standing.doubled.push(...found.doubled)
  if (account.length > 0 && untaken === 0) count(found, isBusy, standing)
}

type Choice = 'all' | 'some' | 'none'

/** By build, what the project's rules for Slack said of its states: by the union of all of them. */
function choices(decisions: readonly Decision[]): Map<string, Choice> {
  const ofSlack = decisions.filter(({ notifier }) => notifier === 'slack')
  const byBuild = Map.groupBy(ofSlack, ({ buildId }) => buildId)
  return new Map([...byBuild].map(([id, own]) => [id, choiceIn(own)]))
}

function choiceIn(own: readonly Decision[]): Choice {
  const sent = new Set(own.filter(({ verdict }) => verdict.kind === 'send').map(({ status }) => status))
  if (sent.size === 0) return 'none'
  return own.every(({ status }) => sent.has(status)) ? 'all' : 'some'
}

/** Without any rule for Slack everything is told: that is the service's own default. */
function choiceOf(builds: readonly BuildSnapshot[], chosen: ReadonlyMap<string, Choice>): Choice {
  const all = new Set(builds.map(({ id }) => chosen.get(id) ?? 'all'))
  const [one] = all
  return all.size === 1 && one ? one : 'some'
}

/** Finds the cards of these builds and what hangs below them, the cards first. */
type MessagesOf = (builds: readonly BuildSnapshot[]) => Message[]

// Each card is looked at once, not once for each build: in a storm there are hundreds of both.
function index(messages: readonly Message[]): MessagesOf {
  const byThread = Map.groupBy(messages, ({ threadTs }) => threadTs)
  const byNumber = new Map<string, Message[]>()
  for (const root of byThread.get(undefined) ?? []) {
    for (const [, number = ''] of root.text.matchAll(/ #(\d+)/g))
      byNumber.set(number, [...(byNumber.get(number) ?? []), root])
  }
  return (builds) => {
    const cards = [...new Set(builds.flatMap((build) => cardsOf(byNumber.get(build.id) ?? [], build)))]
    return [...cards, ...cards.flatMap(({ ts }) => byThread.get(ts) ?? [])]
  }
}
