import type { Shown } from '../../../../src/domain/cards/view.ts'
import { isAccountNotice, toStatus } from '../../../../src/domain/builds/status.ts'
import { styleOf } from '../../../../src/slack/messages/words.ts'
import type { BuildSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import type { Message } from '../../../sandbox-slack/src/messages.ts'
import { cardsOf } from '../stage.ts'

/** What CI did and what Slack shows, compared. Each entry is a sentence; all empty: they agree. */
export interface Agreement {
  lost: string[]
  doubled: string[]
  wrong: string[]
}

/**
 * Compares the builds of CI with the messages of a channel that follows everything: one card per commit and branch, in
 * the state of its newest build, one reply for each attempt that another message does not already tell, and one notice for
 * builds that were not run. What people asked for, who looks after a branch, and which tests failed, does not matter here. It looks at
 * what people see, and knows nothing of the bot's own records.
 */
export const compare = (builds: readonly BuildSnapshot[], messages: readonly Message[]): Agreement =>
  both(compareBuilt(builds, messages), compareNotice(builds, messages))

/** The same without the notice. */
export function compareBuilt(builds: readonly BuildSnapshot[], messages: readonly Message[]): Agreement {
  const agreement: Agreement = { lost: [], doubled: [], wrong: [] }
  const roots = messages.filter(({ threadTs }) => threadTs === undefined)
  const built = builds.filter((build) => !isLeftOut(build))
  const revisions = Map.groupBy(built, ({ project, branch, commitId }) => `${project} ${branch} ${commitId}`)
  for (const own of revisions.values()) compareRevision(own, roots, messages, agreement)
  return agreement
}

/** Compares the attempts that CI did not run with the notice of the day. A later restart that runs does not remove them. */
export function compareNotice(builds: readonly BuildSnapshot[], messages: readonly Message[]): Agreement {
  const expected = builds.flatMap(({ runs }) => runs).filter(isLeftOut).length
  const agreement: Agreement = { lost: [], doubled: [], wrong: [] }
  const notices = messages.filter(
    ({ threadTs, text }) => threadTs === undefined && /builds? (?:was|were) not built/.test(text),
  )
  if (expected > 0 && notices.length === 0)
    agreement.lost.push(`no notice tells of ${expected} builds that were not run`)
  if (notices.length > 1) agreement.doubled.push(`${notices.length} notices on one day`)
  const counted = Number(/\*(\d+) builds?/.exec(notices[0]?.text ?? '')?.[1] ?? 0)
  if (notices.length > 0 && counted !== expected)
    agreement.wrong.push(`the notice counts ${counted} builds, and CI left out ${expected}`)
  return agreement
}

export const agrees = ({ lost, doubled, wrong }: Agreement): boolean =>
  lost.length + doubled.length + wrong.length === 0

export const both = (one: Agreement, other: Agreement): Agreement => ({
  lost: [...one.lost, ...other.lost],
  doubled: [...one.doubled, ...other.doubled],
  wrong: [...one.wrong, ...other.wrong],
})

/** Whether CI did not run this build or attempt, because of its account. */
export const isLeftOut = ({ status }: Pick<BuildSnapshot, 'status'>): boolean => isAccountNotice(toStatus(status))

/** The line in a thread that says what somebody asked for. */
export const isAskLine = ({ text }: Message): boolean =>
  /\b(?:Stop|Restart|(?:Approve|Reject|Run)(?: \(.*\))?) requested\b/.test(text)

/** The line in a thread that says what somebody did about a red branch. */
export const isNoteLine = ({ text }: Message): boolean => /^:(?:raising_hand|wave|zzz): /.test(text)

/** The line in a channel that says that somebody subscribed it. */
export const isRulesLine = ({ text }: Message): boolean => /^:bell: .* subscribed this channel to /.test(text)

/** The reply in a thread that says what failed. */
export const isFailuresReply = ({ text }: Message): boolean =>
  /^(?:Attempt \d+ · )?\*(?:\d+ of \d+ tests? failed|Failed in )/.test(text)

function compareRevision(
  own: readonly BuildSnapshot[],
  roots: readonly Message[],
  messages: readonly Message[],
  { lost, doubled, wrong }: Agreement,
): void {
  const newest = own.at(-1)!
  const name = `${newest.project} #${newest.id}`
  const cards = [...new Set(own.flatMap((build) => cardsOf(roots, build)))]
  const [card] = cards
  if (!card) return void lost.push(`no card tells ${name}`)
  if (cards.length > 1) doubled.push(`${cards.length} cards tell ${name}`)
  const shown = shownFor(newest.status)
  if (!shown.some((one) => saysState(card.text, one)) || cardsOf([card], newest).length === 0)
    wrong.push(`the card of ${name} does not say ${shown.map((one) => styleOf(one).label).join(' or ')}: ${card.text}`)
  compareThread(
    own,
    messages.filter(
      (message) =>
        message.threadTs === card.ts &&
        message.byBot &&
        ![isAskLine, isNoteLine, isFailuresReply].some((is) => is(message)),
    ),
    name,
    { lost, doubled, wrong },
  )
}

function compareThread(
  own: readonly BuildSnapshot[],
  replies: readonly Message[],
  name: string,
  { lost, doubled }: Agreement,
): void {
  const ended = own
    .flatMap(({ runs }) => runs)
    .filter((attempt) => attempt.finishedAt !== null && !isLeftOut(attempt)).length
  // The attempt that the card showed when it was posted has no reply.
  if (replies.length < ended - 1) lost.push(`the thread of ${name} has ${replies.length} replies for ${ended} runs`)
  if (replies.length > ended) doubled.push(`the thread of ${name} has ${replies.length} replies for ${ended} runs`)
}

const shownFor = (ciStatus: string): Shown[] => {
  const status = toStatus(ciStatus)
  if (status === 'success') return ['passed', 'fixed', 'flaky']
  return [status]
}

/** Whether a card says that its build is in this state. */
export const saysState = (text: string, shown: Shown): boolean =>
  shown === 'flaky'
    ? /\*Passed on attempt \d+ \(flaky\)\*/.test(text)
    : text.includes(`*${styleOf(shown).label}*`) || (shown === 'failed' && text.includes('*Still failing*'))
