import { mergeDetails, type BuildDetails } from './fact.ts'
import type { MessageTs, Uuid } from './ids.ts'
import { canShowBuilds, offerOfRestart, offerOfStop, type Facilities, type Missing, type Offer } from './offer.ts'
import type { Recovery } from './recovered.ts'
import { lastRequestOf, runRefText, shownBy, type Action, type Request } from './request.ts'
import { runKey, type Run } from './run.ts'
import { isAccountNotice, isFinal, isRed, type Status } from './status.ts'

// What a channel should see, in words of the product and without a word of Slack. Pure, and comparable by value.

/** How a run is shown: a status, with `success` told apart by whether it recovered. */
export type Shown = Exclude<Status, 'success'> | 'passed' | 'fixed'

export interface CardView {
  kind: 'card'
  shown: Shown
  /** CI's own word, for an `unknown` one */
  word: string
  build: BuildView
  /** 1 for the first run of the revision */
  attempt: number
  /** what happened to the newest run, and when (ms); `polled`: CI told of the end only when it was asked */
  history: readonly { what: 'started' | 'waiting' | 'ended' | 'heard' | 'polled'; at: number }[]
  durationMs: number | null
  /** set when the card itself has to tell the committer: it was born red */
  mention: string | null
  recovery: Recovery | null
  /** the card before this one, when that one is gone or can no longer be edited */
  replaces: MessageTs | null
  /** the run that the buttons are about, as `parseRunRef` reads it */
  ref: string
  /** the buttons that can work now */
  offers: readonly Action[]
  /** why the button that the state calls for is not there */
  missing: { action: Action; why: Missing } | null
  /** the uuid of the build that Stop would stop, where CI cannot be asked whether it is this one */
  unconfirmed: Uuid | null
  /** who last asked something of CI about this run */
  asked: Asked | null
}

/** What somebody asked of CI, and how far that has come. */
export interface Asked {
  action: Action
  /** a Slack user */
  by: string
  stage: 'asked' | 'confirmed' | 'refused' | 'unclear' | 'unconfirmed'
  /** why, where it was refused or is unclear: CI's kind of answer */
  code: string | null
}

/** One line in the thread: somebody asked something of CI. */
export interface AskView extends Asked {
  kind: 'ask'
  buildId: string
  /** what came of it, once the facts show it */
  outcome: { shown: Shown; buildId: string; attempt: number } | null
}

export interface BuildView {
  project: string
  buildId: string
  branch: string | null
  buildUrl: string | null
  commitUrl: string | null
  /** short form of the commit */
  commit: string | null
  message: string | null
  committer: string | null
}

export interface ReplyView {
  kind: 'reply'
  shown: Shown
  build: BuildView
  attempt: number
  /** told only when another run had taken the card that was born with it: what it is about has to be said */
  isLate: boolean
  durationMs: number | null
  /** the Slack user to mention */
  mention: string | null
  /** also sent to the channel */
  broadcast: boolean
  recovery: Recovery | null
}

/** One notice per channel and day about builds that the account's limits kept from running. */
export interface NoticeView {
  kind: 'notice'
  /** `YYYY-MM-DD`, UTC */
  day: string
  ignored: number
  blocked: number
  /** the first builds of the day, at most NOTICE_BUILDS_MAX */
  builds: readonly (BuildView & { shown: 'ignored' | 'blocked' })[]
}

export type View = CardView | ReplyView | AskView | NoticeView

export const NOTICE_BUILDS_MAX = 20

/** What is said in one channel about one revision: the card, and its replies by name, in order. */
export interface Story {
  card: CardView
  replies: readonly { slot: string; view: ReplyView; newest: boolean }[]
  /** what people asked of CI about these builds, oldest first */
  asks: readonly { slot: string; view: AskView }[]
}

export interface StoryContext {
  /** runs of the revision, oldest first; at least one */
  runs: readonly Run[]
  /** the recovery of each run that has one, by run key */
  recoveries: ReadonlyMap<string, Recovery>
  /** whether the outcome of a run was selected for this channel */
  isTold: (run: Run) => boolean
  /** whether it was selected as a failure or a recovery, which the channel should notice */
  isLoud: (run: Run) => boolean
  /** the run that the card already told when it was first posted, and so needs no reply; null before there is a card */
  bornRun: string | null
  quiet: boolean
  /** the Slack user who claimed a committer's handle, if this channel mentions */
  mentionOf: (committer: string | null) => string | null
  replaces: MessageTs | null
  /** requests about these runs, oldest first */
  requests: readonly Request[]
  facilities: Facilities
}

/** The whole story of a revision in one channel. Pure: facts in, views out. */
export function tellStory(context: StoryContext): Story {
  const newest = context.runs.at(-1)!
  return {
    card: cardView(newest, context),
    replies: context.runs
      .filter((run) => hasReply(run, context))
      .map((run) => ({ slot: `run:${runKey(run)}`, view: replyView(run, context), newest: run === newest })),
    asks: context.requests.map((request) => ({ slot: `ask:${request.id}`, view: askView(request, context) })),
  }
}

/** The run that a card posted now would tell by itself; null while it is not finished. */
export const bornRunOf = (runs: readonly Run[]): string | null => {
  const newest = runs.at(-1)!
  return isFinal(newest.status) ? runKey(newest) : null
}

function cardView(run: Run, context: StoryContext): CardView {
  const recovery = context.recoveries.get(runKey(run)) ?? null
  const tellsRedItself = isRed(run.status) && context.bornRun === runKey(run)
  return {
    kind: 'card',
    shown: shownAs(run, recovery),
    word: run.word,
    build: buildView(run, context.runs),
    attempt: attemptOf(run, context.runs),
    history: historyOf(run),
    durationMs: durationOf(run),
    mention: tellsRedItself ? mentionFor(run, context) : null,
    recovery,
    replaces: context.replaces,
    ref: runRefText({ projectId: run.facts[0]!.projectId, buildId: run.buildId, run: run.n }),
    ...offersOf(run, context.facilities, context.requests),
    asked: askedAbout(run, context),
  }
}

/** The buttons that can work now, and why the one that the state calls for is not among them. */
export function offersOf(
  run: Run,
  facilities: Facilities,
  requests: readonly Request[],
): Pick<CardView, 'offers' | 'missing' | 'unconfirmed'> {
  const all: [Action, Offer][] = [
    ['stop', offerOfStop(run, facilities, requests)],
    ['restart', offerOfRestart(run, facilities, requests)],
  ]
  const missing = all.flatMap(([action, offer]) => (isMissing(offer) ? [{ action, why: offer }] : []))
  return {
    offers: all.filter(([, offer]) => offer === 'offered').map(([action]) => action),
    missing: missing[0] ?? null,
    unconfirmed: canShowBuilds(facilities) ? null : run.details.buildUuid,
  }
}

export const isMissing = (offer: Offer): offer is Missing =>
  offer !== 'offered' && offer !== 'asked' && offer !== 'not-now'

function askedAbout(run: Run, { requests }: StoryContext): Asked | null {
  const request = lastRequestOf(run, requests)
  return request && asked(request)
}

const asked = ({ action, askedBy: by, state, code }: Request): Asked => ({
  action,
  by,
  // Between the record and CI's answer there is nothing to tell apart.
  stage: state === 'calling' || state === 'accepted' ? 'asked' : state,
  code: state === 'calling' || state === 'accepted' || state === 'confirmed' ? null : code,
})

function askView(request: Request, context: StoryContext): AskView {
  const run = shownBy(request, context.runs, context.requests)
  const outcome = run && {
    shown: request.action === 'stop' ? shownAs(run, context.recoveries.get(runKey(run)) ?? null) : ('started' as const),
    buildId: run.buildId,
    attempt: attemptOf(run, context.runs),
  }
  return { kind: 'ask', ...asked(request), buildId: request.buildId, outcome }
}

function replyView(run: Run, context: StoryContext): ReplyView {
  const recovery = context.recoveries.get(runKey(run)) ?? null
  const isNews = run === context.runs.at(-1)
  return {
    kind: 'reply',
    shown: shownAs(run, recovery),
    build: buildView(run, context.runs),
    attempt: attemptOf(run, context.runs),
    isLate: runKey(run) === context.bornRun,
    durationMs: durationOf(run),
    // Nobody is called for a run that another one has already replaced.
    mention: isNews ? mentionFor(run, context) : null,
    broadcast: isNews && !context.quiet && context.isLoud(run),
    recovery,
  }
}

// While the card itself tells the run, a reply would say it twice; once another run is on the card, the thread keeps it.
const hasReply = (run: Run, { runs, bornRun, isTold }: StoryContext): boolean =>
  isFinal(run.status) && !isAccountNotice(run.status) && isTold(run) && (runKey(run) !== bornRun || run !== runs.at(-1))

// A machine's failure is nobody's fault: only `failed` calls the committer.
const mentionFor = (run: Run, { runs, mentionOf }: StoryContext): string | null =>
  run.status === 'failed' ? mentionOf(buildView(run, runs).committer) : null

export const attemptOf = (run: Run, runs: readonly Run[]): number => runs.indexOf(run) + 1

export const shownAs = (run: Run, recovery: Recovery | null): Shown =>
  run.status === 'success' ? (recovery ? 'fixed' : 'passed') : run.status

const durationOf = ({ startedAt, finalAt }: Run): number | null =>
  startedAt !== null && finalAt !== null && finalAt >= startedAt ? finalAt - startedAt : null

function historyOf(run: Run): CardView['history'] {
  const waiting = run.status === 'waiting' ? run.facts.findLast(({ status }) => status === 'waiting') : undefined
  const polled = run.facts.find(({ seq, origin }) => seq === run.finalSeq && origin === 'poll')
  return [
    ...(run.startedAt === null ? [] : [{ what: 'started' as const, at: run.startedAt }]),
    ...(waiting ? [{ what: 'waiting' as const, at: waiting.at }] : []),
    ...(run.finalAt === null ? [] : [{ what: 'ended' as const, at: run.finalAt }]),
    ...(run.status === 'unknown' ? [{ what: 'heard' as const, at: run.facts.at(-1)!.at }] : []),
    ...(polled ? [{ what: 'polled' as const, at: polled.at }] : []),
  ]
}

/** The build of a run, with what only other facts of the revision said of it filled in. */
export function buildView(run: Run, runs: readonly Run[]): BuildView {
  const shared = mergeDetails([...runs, run])
  const own: BuildDetails = run.details
  const facts = [...run.facts, ...runs.flatMap((other) => other.facts)]
  const commitId = facts.find((fact) => fact.commitId !== null)?.commitId ?? null
  const commitUrl = own.commitUrl ?? shared.commitUrl
  return {
    project: projectName({ ...shared, commitUrl }, run.facts[0]!.projectId),
    buildId: run.buildId,
    branch: facts.find((fact) => fact.branch !== null)?.branch ?? null,
    // The address is the build's: a run that was found by looking has it from the runs before.
    buildUrl: own.buildUrl ?? mergeDetails(runs.filter(({ buildId }) => buildId === run.buildId)).buildUrl,
    commitUrl,
    commit: own.shortCommitId ?? shared.shortCommitId ?? commitId?.slice(0, 7) ?? null,
    message: own.message ?? shared.message,
    committer: own.committer ?? shared.committer,
  }
}

/** What to call a project: its name, its full name, the path of its commits, or its number. */
export function projectName(
  {
    projectName: name,
    projectFullName,
    commitUrl,
  }: Pick<BuildDetails, 'projectName' | 'projectFullName' | 'commitUrl'>,
  projectId: string,
): string {
  return name ?? projectFullName ?? repositoryPath(commitUrl) ?? `project ${projectId}`
}

function repositoryPath(commitUrl: string | null): string | null {
  if (!commitUrl || !URL.canParse(commitUrl)) return null
  const path = /^\/(.+)\/commits?\//.exec(new URL(commitUrl).pathname)?.[1]
  return path === undefined ? null : decoded(path.replace(/\/-$/, ''))
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
