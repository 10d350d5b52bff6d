import type { Known } from '../domain/decide.ts'
import { mergeDetails, type Fact } from '../domain/fact.ts'
import { idOrder, type ChannelId } from '../domain/ids.ts'
import { branchKey, placeFacts, type PlacedFact } from '../domain/revision.ts'
import { restartsAsked, type Request } from '../domain/request.ts'
import { isRed } from '../domain/status.ts'
import { episodeOf, revisionSubject, noticeSubject } from '../domain/subject.ts'
import { following, type ProjectNames } from '../domain/subscription.ts'
import { projectName } from '../domain/view.ts'
import type { CardKey, DueRevision, KeptDecision } from '../store/kept.ts'
import type { Tx } from '../store/store.ts'
import { decideEpisode, opensCard } from './decisions.ts'
import type { ReconcileDeps, Working } from './deps.ts'
import { relane } from './lanes.ts'
import { keepBuilds, settleRequests } from './standing.ts'

/** How long facts wait for a first reading of the project's rules; CI being down or slow must not delay an alert. */
const RULES_PATIENCE_MS = 1_000
export const RULES_LOOK_AGAIN_MS = 50

/** How many newer outcomes of a branch are looked at again when an older build turns out to have failed. */
const SUCCESSORS_MAX = 100

/**
 * Takes in what is new of one revision: gives each fact its card, decides for each channel whether it is told and keeps
 * why, and puts the cards concerned in their lanes. All in one transaction; running it again changes nothing.
 * @returns the channels that have something to do; `waits`: the rules are being read for the first time; `lost`:
 * another process sends now
 */
export async function takeIn(deps: Working, due: DueRevision): Promise<ChannelId[] | 'waits' | 'lost'> {
  const { revisionKey } = due
  const project = await projectOf(deps, due)
  const rules = project ? await deps.rulesOf(project.names) : null
  if (rules === 'wait' && deps.clock.now() < project!.heardAt + RULES_PATIENCE_MS) {
    await deps.store.write((tx) => tx.postponeRevision(revisionKey, deps.clock.now() + RULES_LOOK_AGAIN_MS), {
      canBeRedone: true,
    })
    return 'waits'
  }
  const subscriptions = project ? following(await deps.subscriptions(), project.names) : []
  const known: Known = { subscriptions, rules: rules === 'wait' ? null : rules }
  const taken = await deps.store.write((tx) => takeInWith(tx, deps, due, { ...known, seen: project?.seen ?? NONE }), {
    canBeRedone: true,
  })
  if (!taken) return 'lost'
  const { touched, decided, facts } = taken
  for (const decision of decided) report(deps, revisionKey, decision)
  reportTaken(deps, { revisionKey, facts, decided })
  return [...new Set(touched.map(({ channel }) => channel))]
}

async function projectOf(
  { store }: ReconcileDeps,
  { revisionKey, buildKeys }: DueRevision,
): Promise<{ names: ProjectNames; heardAt: number; seen: ReadonlySet<number> } | null> {
  const own = await store.read.factsOfBuilds(buildKeys)
  const newest = await store.read.newestEpisode(revisionKey)
  const told = newest ? await store.read.factsOfEpisode(revisionKey, newest.episode) : []
  const first = own.find(({ episode }) => episode === null) ?? told[0]
  if (!first) return null
  // Later deliveries may leave out what the first ones said, of the same build or of another one of the commit.
  const details = mergeDetails([...told, ...own])
  const names = [details.projectName, details.projectFullName, projectName(details, first.projectId)]
  return {
    names: { projectId: first.projectId, projectUuid: details.projectUuid, names },
    heardAt: first.at,
    seen: new Set(own.map(({ seq }) => seq)),
  }
}

const NONE: ReadonlySet<number> = new Set()

async function takeInWith(
  tx: Tx,
  deps: Working,
  { revisionKey, buildKeys }: DueRevision,
  { seen, ...known }: Known & { seen: ReadonlySet<number> },
) {
  if (!(await deps.term.holds(tx))) return null
  const mark = await tx.intakeOf(revisionKey)
  const requests = await tx.requestsOf(revisionKey)
  // Who follows was asked for the facts that were known then: one that came since may name the project, and waits its turn.
  const facts = (await tx.factsOfBuilds(buildKeys)).filter(({ seq, episode }) => episode !== null || seen.has(seq))
  const placed = await place(tx, revisionKey, facts, requests)
  const episodes = new Set([
    ...placed.map(({ episode }) => episode!),
    ...(await newestOnly(tx, revisionKey)),
    ...requests.map(({ subject }) => episodeOf(subject)),
  ])
  const touched: CardKey[] = []
  const decided: KeptDecision[] = []
  for (const episode of episodes) {
    const { runs, decisions } = await decideEpisode(tx, {
      revisionKey,
      episode,
      known,
      requests,
      now: deps.clock.now(),
    })
    await keepBuilds(tx, { revisionKey, episode, runs, fresh: placed, requests })
    const subject = revisionSubject(revisionKey, episode)
    await settleRequests(tx, { subject, all: requests, runs, now: deps.clock.now() })
    decided.push(...decisions)
    touched.push(...(await wakeCards(tx, deps, subject, decisions, known)))
  }
  for (const fact of placed) await wakeSuccessors(tx, fact, revisionKey, deps.clock.now())
  if (mark) await tx.settleRevision(revisionKey, mark.stamp)
  return { touched, decided, facts: placed.map(({ seq }) => seq) }
}

/** Gives the facts that have none their episode. @returns those facts */
async function place(
  tx: Tx,
  revisionKey: string,
  facts: readonly PlacedFact[],
  requests: readonly Request[],
): Promise<PlacedFact[]> {
  const fresh = facts.filter(({ episode }) => episode === null)
  if (fresh.length === 0) return []
  const { placed } = placeFacts(facts, await tx.newestEpisode(revisionKey), restartsAsked(requests))
  for (const [seq, episode] of placed) await tx.placeFact(seq, episode)
  return fresh.map((fact) => ({ ...fact, episode: placed.get(fact.seq)! }))
}

// A wake without new facts: an older build's outcome may have changed whether this one recovered.
const newestOnly = async (tx: Tx, revisionKey: string): Promise<number[]> => {
  const newest = await tx.newestEpisode(revisionKey)
  return newest ? [newest.episode] : []
}

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
  // Cards that stand already follow their revision, whatever the rules say now.
  for (const key of await tx.cardsOf(subject)) keys.set(`${key.subject} ${key.channel}`, key)
  for (const key of keys.values()) await relane(tx, deps, key, { underWay: deps.isUnderWay(key) })
  return [...keys.values()]
}

// A failure that comes late can make a newer build of the branch a recovered one, or its red streak a longer one. Not
// only the next build's: other red ones may lie between, and green ones that came later still and so do not count. What
// is not taken in yet will see the failure by itself.
async function wakeSuccessors(tx: Tx, fact: Fact, revisionKey: string, now: number): Promise<void> {
  if (!isRed(fact.status)) return
  const branch = branchKey(fact.projectId, fact.branch)
  const newer = await tx.revisionsAfter(branch, idOrder(fact.buildId), SUCCESSORS_MAX)
  for (const key of new Set(newer)) if (key !== revisionKey) await tx.wakeRevision(key, now, 1)
}

function report({ log, count }: ReconcileDeps, revisionKey: string, decision: KeptDecision): void {
  count({ what: 'decision', reason: decision.reason })
  const { factSeq, channel, verdict, reason } = decision
  log.debug({ revision: revisionKey, fact: factSeq, channel, verdict, reason }, 'decided')
}

// The line between a delivery's and that of its message; each decision by itself is told at `debug`.
function reportTaken(
  { log }: ReconcileDeps,
  { revisionKey, facts, decided }: { revisionKey: string; facts: readonly number[]; decided: readonly KeptDecision[] },
): void {
  if (facts.length === 0) return
  const verdicts: Record<string, number> = {}
  for (const { verdict } of decided) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1
  log.info({ revision: revisionKey, facts, verdicts }, 'taken in')
}
