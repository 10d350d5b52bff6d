import { decide, type CiRules, type Decision } from '../domain/decide.ts'
import { mergeDetails, type Fact } from '../domain/fact.ts'
import { idOrder, type ChannelId } from '../domain/ids.ts'
import { branchKey, placeFacts, type PlacedFact } from '../domain/lineage.ts'
import { noticeDay } from '../domain/notice.ts'
import { restartsAsked, shownBy, type Request } from '../domain/request.ts'
import { effectsOf, foldRuns, type Effect, type RestartAsked, type Run } from '../domain/run.ts'
import { isRed } from '../domain/status.ts'
import { following, type ProjectNames, type Subscription } from '../domain/subscription.ts'
import { buildView, projectName } from '../domain/view.ts'
import type { CardKey, DueLineage, KeptDecision, Tx } from '../store/store.ts'
import type { ReconcileDeps, Working } from './deps.ts'
import { relane } from './lanes.ts'
import { episodeOf, lineageSubject, noticeSubject } from '../domain/subject.ts'
import { recoveriesOf } from '../store/history.ts'

/** How long facts wait for a first reading of the project's rules; CI being down or slow must not delay an alert. */
const RULES_PATIENCE_MS = 1_000
export const RULES_LOOK_AGAIN_MS = 50

/** How many newer outcomes of a branch are looked at again when an older build turns out to have failed. */
const SUCCESSORS_MAX = 100

/**
 * Takes in what is new of one lineage: gives each fact its card, decides for each channel whether it is told and keeps
 * why, and puts the cards concerned in their lanes. All in one transaction; running it again changes nothing.
 * @returns the channels that have something to do; `waits`: the rules are being read for the first time
 */
export async function takeIn(deps: Working, due: DueLineage): Promise<ChannelId[] | 'waits'> {
  const { lineageKey } = due
  const project = await projectOf(deps, due)
  const rules = project ? await deps.rulesOf(project.names) : null
  if (rules === 'wait' && deps.clock.now() < project!.heardAt + RULES_PATIENCE_MS) {
    await deps.store.write((tx) => tx.postponeLineage(lineageKey, deps.clock.now() + RULES_LOOK_AGAIN_MS))
    return 'waits'
  }
  const subscriptions = project ? following(await deps.subscriptions(), project.names) : []
  const known: Known = { subscriptions, rules: rules === 'wait' ? null : rules }
  const { touched, decided } = await deps.store.write((tx) => takeInWith(tx, deps, due, known))
  for (const decision of decided) report(deps, lineageKey, decision)
  return [...new Set(touched.map(({ channel }) => channel))]
}

interface Known {
  subscriptions: readonly Subscription[]
  rules: CiRules
}

async function projectOf(
  { store }: ReconcileDeps,
  { lineageKey, buildKeys }: DueLineage,
): Promise<{ names: ProjectNames; heardAt: number } | null> {
  const own = await store.read.factsOfBuilds(buildKeys)
  const newest = await store.read.newestEpisode(lineageKey)
  const told = newest ? await store.read.factsOfEpisode(lineageKey, newest.episode) : []
  const first = own.find(({ episode }) => episode === null) ?? told[0]
  if (!first) return null
  // Later deliveries may leave out what the first ones said, of the same build or of another one of the commit.
  const details = mergeDetails([...told, ...own])
  const names = [details.projectName, details.projectFullName, projectName(details, first.projectId)]
  return { names: { projectId: first.projectId, projectUuid: details.projectUuid, names }, heardAt: first.at }
}

async function takeInWith(tx: Tx, deps: Working, { lineageKey, buildKeys }: DueLineage, known: Known) {
  const mark = await tx.intakeOf(lineageKey)
  const requests = await tx.requestsOf(lineageKey)
  const placed = await place(tx, lineageKey, await tx.factsOfBuilds(buildKeys), requests)
  const episodes = new Set([
    ...placed.map(({ episode }) => episode!),
    ...(await newestOnly(tx, lineageKey)),
    ...requests.map(({ subject }) => episodeOf(subject)),
  ])
  const touched: CardKey[] = []
  const decided: KeptDecision[] = []
  for (const episode of episodes) {
    const { runs, decisions } = await decideEpisode(tx, deps, { lineageKey, episode, known, requests })
    await keepBuilds(tx, { lineageKey, episode, runs, fresh: placed })
    await settleRequests(tx, requestsOn(lineageSubject(lineageKey, episode), requests), runs, deps.clock.now())
    decided.push(...decisions)
    touched.push(...(await wakeCards(tx, deps, lineageSubject(lineageKey, episode), decisions, known)))
  }
  for (const fact of placed) await wakeSuccessors(tx, fact, lineageKey, deps.clock.now())
  if (mark) await tx.settleLineage(lineageKey, mark.stamp)
  return { touched, decided }
}

/** Gives the facts that have none their episode. @returns those facts */
async function place(
  tx: Tx,
  lineageKey: string,
  facts: readonly PlacedFact[],
  requests: readonly Request[],
): Promise<PlacedFact[]> {
  const fresh = facts.filter(({ episode }) => episode === null)
  if (fresh.length === 0) return []
  const { placed } = placeFacts(facts, await tx.newestEpisode(lineageKey), restartsAsked(requests))
  for (const [seq, episode] of placed) await tx.placeFact(seq, episode)
  return fresh.map((fact) => ({ ...fact, episode: placed.get(fact.seq)! }))
}

// A wake without new facts: an older build's outcome may have changed whether this one recovered.
const newestOnly = async (tx: Tx, lineageKey: string): Promise<number[]> => {
  const newest = await tx.newestEpisode(lineageKey)
  return newest ? [newest.episode] : []
}

async function decideEpisode(
  tx: Tx,
  { clock }: ReconcileDeps,
  { lineageKey, episode, known, requests }: Episode & { known: Known; requests: readonly Request[] },
): Promise<{ runs: Run[]; decisions: KeptDecision[] }> {
  const facts = await tx.factsOfEpisode(lineageKey, episode)
  const asked = restartsAsked(requests)
  const runs = foldRuns(facts, asked)
  const recoveries = await recoveriesOf(tx, runs)
  const recovered = new Set(
    runs.filter(({ buildId, n }) => recoveries.has(`${buildId}.${n}`)).map(({ finalSeq }) => finalSeq),
  )
  const effects = effectsBySeq(facts, asked)
  const subject = lineageSubject(lineageKey, episode)
  const made: KeptDecision[] = []
  for (const [channel, subscriptions] of byChannel(known.subscriptions)) {
    const kept = new Map((await tx.decisionsOf({ subject, channel })).map((decision) => [decision.factSeq, decision]))
    let hasCard = [...kept.values()].some(opensCard)
    for (const fact of facts) {
      const isRecovered = recovered.has(fact.seq)
      if (kept.get(fact.seq)?.recovered === isRecovered) continue
      const effect = effects.get(fact.seq)!
      const question = { branch: fact.branch, status: fact.status, effect, recovered: isRecovered, hasCard }
      const decision = decide(question, subscriptions, known.rules)
      const day = decision.reason === 'account-notice' ? noticeDay(fact.at) : null
      made.push(keep(decision, { fact, channel, subject, recovered: isRecovered, day, now: clock.now() }))
      hasCard ||= opensCard(made.at(-1)!)
    }
  }
  for (const decision of made) await tx.keepDecision(decision)
  return { runs, decisions: made }
}

interface Episode {
  lineageKey: string
  episode: number
}

/** Keeps where each build with news stands, and what its project is called. */
async function keepBuilds(
  tx: Tx,
  { lineageKey, episode, runs, fresh }: Episode & { runs: readonly Run[]; fresh: readonly PlacedFact[] },
): Promise<void> {
  const news = new Set(fresh.filter((fact) => fact.episode === episode).map(({ buildId }) => buildId))
  const newest = new Map(runs.map((run) => [run.buildId, run]))
  for (const buildId of news) {
    const run = newest.get(buildId)
    if (!run) continue
    const { projectId } = run.facts[0]!
    const at = Math.max(...fresh.filter((fact) => fact.buildId === buildId).map((fact) => fact.at))
    const { branch } = buildView(run, runs)
    const { n, status, word } = run
    const { buildUuid } = run.details
    await tx.keepBuild({ projectId, buildId, run: n, lineageKey, episode, branch, status, word, at, buildUuid })
    const details = mergeDetails([...runs, run])
    const { projectFullName: fullName, projectUuid } = details
    await tx.hearProject({ projectId, name: projectName(details, projectId), fullName, projectUuid, at })
  }
}

// Each card counts its runs from one: a stop is about a run of its own card, a restart may have begun the next one.
const requestsOn = (subject: string, requests: readonly Request[]): Request[] =>
  requests.filter((request) => request.subject === subject || request.action === 'restart')

/** What the facts show of requests confirms them, even after we had given up on it. */
async function settleRequests(tx: Tx, requests: readonly Request[], runs: readonly Run[], now: number): Promise<void> {
  for (const request of requests) {
    // While CI is being called, whoever called it has the last word.
    if (request.state === 'calling' || request.state === 'confirmed' || !shownBy(request, runs)) continue
    await tx.updateRequest(request.id, { state: 'confirmed', endedAt: now, lookAt: null })
  }
}

interface Kept {
  fact: Fact
  channel: ChannelId
  subject: string
  recovered: boolean
  day: string | null
  now: number
}

const keep = (decision: Decision, { fact, channel, subject, recovered, day, now }: Kept): KeptDecision => ({
  ...decision,
  factSeq: fact.seq,
  channel,
  subject,
  recovered,
  noticeDay: day,
  decidedAt: now,
})

/** Account trouble has its own notice: it never opens a card, it only changes one that is there. */
const opensCard = ({ verdict, reason }: Decision): boolean => verdict === 'tell' && reason !== 'account-notice'

const effectsBySeq = (facts: readonly PlacedFact[], asked: readonly RestartAsked[]): Map<number, Effect> =>
  new Map(
    [...Map.groupBy(facts, ({ buildId }) => buildId).values()].flatMap((own) =>
      effectsOf(own, asked).map((effect, i) => [own[i]!.seq, effect] as const),
    ),
  )

const byChannel = (subscriptions: readonly Subscription[]) => Map.groupBy(subscriptions, ({ channel }) => channel)

async function wakeCards(
  tx: Tx,
  deps: Working,
  subject: string,
  decisions: readonly KeptDecision[],
  { subscriptions }: Known,
): Promise<CardKey[]> {
  const keys = new Map<string, CardKey>()
  const ensure = async (key: CardKey) => {
    const own = subscriptions.filter(({ channel }) => channel === key.channel)
    const quiet = own.some((subscription) => subscription.quiet)
    await tx.ensureCard({ ...key, quiet, mention: own.some(({ mention }) => mention === 'committer') })
    keys.set(`${key.subject} ${key.channel}`, key)
  }
  for (const decision of decisions) {
    if (opensCard(decision)) await ensure({ subject, channel: decision.channel })
    if (decision.noticeDay) await ensure({ subject: noticeSubject(decision.noticeDay), channel: decision.channel })
  }
  // Cards that stand already follow their lineage, whatever the rules say now.
  for (const key of await tx.cardsOf(subject)) keys.set(`${key.subject} ${key.channel}`, key)
  for (const key of keys.values()) await relane(tx, deps, key, { underWay: deps.isUnderWay(key) })
  return [...keys.values()]
}

// A failure that comes late can make a newer build of the branch a recovered one, or its red streak a longer one. Not
// only the next build's: other red ones may lie between, and green ones that came later still and so do not count. What
// is not taken in yet will see the failure by itself.
async function wakeSuccessors(tx: Tx, fact: Fact, lineageKey: string, now: number): Promise<void> {
  if (!isRed(fact.status)) return
  const branch = branchKey(fact.projectId, fact.branch)
  const newer = await tx.lineagesAfter(branch, idOrder(fact.buildId), SUCCESSORS_MAX)
  for (const key of new Set(newer)) if (key !== lineageKey) await tx.wakeLineage(key, now, 1)
}

function report({ log, count }: ReconcileDeps, lineageKey: string, decision: KeptDecision): void {
  count({ what: 'decision', reason: decision.reason })
  const { factSeq, channel, verdict, reason } = decision
  log.debug({ lineage: lineageKey, fact: factSeq, channel, verdict, reason }, 'decided')
}
