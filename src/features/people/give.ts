import { claimable } from '../../domain/handle.ts'
import { givenLine, takenLine } from '../../slack/messages/handle.ts'
import type { Asker } from '../../catalog/outcomes.ts'
import { HANDLES_MAX, type MeOutcome, type NotAPerson } from './outcomes.ts'
import type { PersonDeps } from './deps.ts'

/** An admin decides whose a committer's name is. Whoever gets it and whoever had it are told, each once, directly. */
export async function give(deps: PersonDeps, text: string, user: string, by: Asker): Promise<MeOutcome> {
  const permit = await deps.permits('administer', by)
  if (permit.kind === 'no') return { kind: 'forbidden', action: 'give', permit }
  if (permit.kind === 'unknown-person') return permit
  const named = claimable(text)
  if (named.kind === 'no') return { kind: 'not-claimable', handle: text, why: named.why }
  const { handle } = named
  const why = await whyNobody(deps, user)
  if (why !== null) return { kind: 'not-a-person', handle, user, why }
  const ended = await change(deps, handle, user)
  if (ended.kind === 'too-many') return ended
  const { was } = ended
  const untold = was === user ? [] : await tell(deps, { handle, user, was, by: by.user })
  return { kind: 'given', handle, user, was, untold }
}

/** Whoever may read can be meant by a name. */
async function whyNobody({ permits }: PersonDeps, user: string): Promise<NotAPerson | null> {
  const permit = await permits('read', { user, team: null })
  if (permit.kind === 'yes') return null
  if (permit.kind === 'unknown-person') return 'unknown'
  const { why } = permit
  return why === 'deactivated' || why === 'bot' || why === 'outsider' ? why : 'unknown'
}

type Changed = { kind: 'changed'; was: string | null } | Extract<MeOutcome, { kind: 'too-many' }>

const change = ({ store, clock }: PersonDeps, handle: string, user: string): Promise<Changed> =>
  store.write(async (tx) => {
    await tx.lockName(`handles of ${user}`)
    const known = await tx.claimOf(handle)
    if (known?.user === user) return { kind: 'changed', was: user }
    if ((await tx.handlesOf(user)).length >= HANDLES_MAX) return { kind: 'too-many', user, max: HANDLES_MAX }
    return { kind: 'changed', was: await tx.giveHandle(handle, user, clock.now()) }
  })

interface Given {
  handle: string
  user: string
  was: string | null
  by: string
}

/** @returns those who could not be told, or perhaps were not; an admin who decides for themselves knows it */
async function tell({ say, log }: PersonDeps, { handle, user, was, by }: Given): Promise<string[]> {
  const news = [
    { to: user, text: givenLine({ handle, was, by }) },
    ...(was === null ? [] : [{ to: was, text: takenLine({ handle, user, by }) }]),
  ].filter(({ to }) => to !== by)
  const untold: string[] = []
  for (const { to, text } of news) {
    const ended = await say(to, text)
    if (ended.kind === 'sent') continue
    untold.push(to)
    log.warn({ user: to, code: ended.code }, 'a person could not be told that a committer name was given over')
  }
  return untold
}
