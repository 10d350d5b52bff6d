/** The facts from Slack that determine a person's rights. */
export interface Person {
  /** two on Enterprise Grid, `U…` and `W…`: Slack may name the person by either */
  ids: readonly string[]
  /** a single- or multi-channel guest */
  isGuest: boolean
  /** of another workspace, in a shared channel */
  isOutsider: boolean
  isDeactivated: boolean
  isBot: boolean
  /** admin or owner of the workspace */
  isAdmin: boolean
}

/**
 * `read`: look at builds. `subscribe`: change what is posted in a channel. `own`: take over, hand over and snooze red
 * branches. `operate`: stop and restart builds. `approve`: let waiting builds go on, which guests and outsiders never may. `administer`: create, edit and reset projects.
 */
export type Right = 'read' | 'subscribe' | 'own' | 'operate' | 'approve' | 'administer'

/** User ids (`U…`, `W…`) and user-group ids (`S…`) from the configuration; empty: the default applies. */
export interface Grants {
  operators: readonly string[]
  approvers: readonly string[]
  admins: readonly string[]
}

export type Permit =
  | { kind: 'yes' }
  /** `who`: the configured ids of those who may; empty if the default applies */
  | {
      kind: 'no'
      why: 'guest' | 'outsider' | 'deactivated' | 'bot' | 'not-listed' | 'not-admin'
      who: readonly string[]
    }

/** Whether this person may do that. @param groupsOf the configured user groups that the person is in */
export function permit(right: Right, person: Person, grants: Grants, groupsOf: readonly string[]): Permit {
  if (person.isDeactivated) return no('deactivated')
  if (person.isBot) return no('bot')
  if (right === 'approve' && person.isOutsider) return no('outsider')
  if (right === 'approve' && person.isGuest) return no('guest')
  const listed = listedFor(right, grants)
  if (listed.length > 0) {
    const isListed = listed.some((id) => person.ids.includes(id) || groupsOf.includes(id))
    return isListed ? YES : { kind: 'no', why: 'not-listed', who: listed }
  }
  if (person.isOutsider) return no('outsider')
  if (right === 'read') return YES
  if (person.isGuest) return no('guest')
  return right !== 'administer' || person.isAdmin ? YES : no('not-admin')
}

/** Who is configured for a right. */
export function listedFor(right: Right, { operators, approvers, admins }: Grants): readonly string[] {
  if (right === 'approve') return approvers.length > 0 ? approvers : operators
  return right === 'operate' ? operators : right === 'administer' ? admins : []
}

const YES: Permit = { kind: 'yes' }

const no = (why: Extract<Permit, { kind: 'no' }>['why']): Permit => ({ kind: 'no', why, who: [] })
