import { z } from 'zod'
import { assertNever } from '../../lib/assert.ts'
import type { Acknowledgement } from './acknowledgement.ts'
import type { ControlAnswer } from './control.ts'
import { fillIn, findFormErrors } from './form.ts'
import type { Json } from './json.ts'
import type { People } from './people.ts'
import { requiredLength } from './people/suggest.ts'
import type { Suggestion } from './people/suggest.ts'
import { findView, getElementInView } from './people/view.ts'
import { isField, putValues, valueNameOf, valuesIn } from './view-state.ts'
import type { Views } from './views.ts'

export interface ViewControlParts {
  views: Views
  people: People
}

const who = { user: z.string() }
const inView = { ...who, view: z.string() }
const values = { values: z.record(z.string(), z.record(z.string(), z.unknown())).exactOptional() }
const element = { actionId: z.string(), blockId: z.string().exactOptional() }

/** Actions of people in modals, home tabs and global shortcuts. `values` are the fields' contents, in Slack's form. */
export const viewDeeds = [
  z.strictObject({ kind: z.literal('global-shortcut'), ...who, callbackId: z.string() }),
  z.strictObject({ kind: z.literal('open-home'), ...who }),
  z.strictObject({
    kind: z.literal('press'),
    ...inView,
    ...element,
    ...values,
    selected: z.record(z.string(), z.unknown()).exactOptional(),
    confirmed: z.boolean().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('suggest'), ...inView, ...element, ...values, value: z.string() }),
  z.strictObject({ kind: z.literal('submit'), ...inView, ...values }),
  z.strictObject({ kind: z.literal('close'), ...inView, all: z.boolean().exactOptional() }),
] as const

export type ViewDeed = z.output<(typeof viewDeeds)[number]>
type DeedInView = Extract<ViewDeed, { view: string }>
type ElementDeed = Extract<ViewDeed, { actionId: string }>

const refused = (status: number, error: string): ControlAnswer => ({ status, body: { ok: false, error } })

/** Refuses an action that a person could not do. Otherwise puts its values into the view's fields and returns null. */
export function prepareViewDeed({ views }: ViewControlParts, deed: ViewDeed): ControlAnswer | null {
  if (!('view' in deed)) return null
  const view = findView(views, deed.user, deed.view)
  if (!view) return refused(404, `${deed.user} has no view ${deed.view} open`)
  const isCovered = deed.view !== views.home(deed.user)?.['id'] && view !== views.stack(deed.user).at(-1)
  if (isCovered) return refused(400, `view ${deed.view} lies below another`)
  const refusal = findUnusable(views, deed)
  if (refusal || !('values' in deed)) return refusal
  const filled = fillIn(view, deed.values ?? {})
  if (filled.kind === 'misplaced') return refused(400, filled.reason)
  putValues(view, filled.values)
  return null
}

function findUnusable(views: Views, deed: DeedInView): ControlAnswer | null {
  const isHome = deed.view === views.home(deed.user)?.['id']
  if (deed.kind === 'submit' || deed.kind === 'close') {
    return isHome ? refused(400, `a home tab cannot be ${deed.kind === 'submit' ? 'submitted' : 'closed'}`) : null
  }
  const found = findElementInView(views, deed)
  if (!found) return refused(404, `view ${deed.view} has no element ${deed.actionId}`)
  if (deed.kind === 'suggest') return findTooShort(found, deed)
  if (deed.confirmed !== false || found['confirm'] !== undefined) return null
  return refused(400, `${deed.actionId} asks for no confirmation`)
}

/** Refuses a search with fewer characters than the menu needs. */
export function findTooShort(
  menu: Json,
  { actionId, value }: { actionId: string; value: string },
): ControlAnswer | null {
  const min = requiredLength(menu)
  return Array.from(value).length < min ? refused(400, `${actionId} asks the bot from ${min} characters on`) : null
}

function findElementInView(views: Views, { user, view, actionId, blockId }: ElementDeed) {
  try {
    return getElementInView(views, { user, viewId: view, actionId, ...(blockId === undefined ? {} : { blockId }) })
      .found.element
  } catch {
    return null
  }
}

/** Slack's own client does not send a form with invalid fields, and shows the errors. */
export interface KeptBack {
  kind: 'unsent'
  what: 'view_submission'
  because: 'invalid_input'
  errors: Record<string, string>
}

export type ViewOutcome = Acknowledgement | KeptBack | { kind: 'suggested'; what: string; options: Json[] }

/** Performs an action that `prepareViewDeed` accepted. */
export async function performViewDeed(parts: ViewControlParts, deed: ViewDeed): Promise<ViewOutcome> {
  const { people } = parts
  switch (deed.kind) {
    case 'global-shortcut':
      return people.useGlobalShortcut(deed)
    case 'open-home':
      return people.openHome(deed.user)
    case 'press':
      return press(parts, deed)
    case 'suggest':
      return suggest(parts, deed)
    case 'submit':
      return submit(parts, deed)
    case 'close':
      return people.closeView({ user: deed.user, isCleared: deed.all ?? false })
    default:
      return assertNever(deed)
  }
}

/** For a field, the choice is its value in the view. Buttons and overflow menus bring theirs in `selected`. */
function press({ people, views }: ViewControlParts, deed: ViewDeed & { kind: 'press' }): Promise<Acknowledgement> {
  const { view: viewId, values: _values, selected, ...rest } = deed
  const { view, found } = getElementInView(views, { ...rest, viewId })
  const name = valueNameOf(found.element)
  const held = valuesIn(view)[found.blockId]?.[rest.actionId]?.[name]
  const chosen = selected ?? (isField(found.element) ? { [name]: held ?? null } : {})
  return people.clickInView({ ...rest, viewId, selected: chosen })
}

async function suggest({ people }: ViewControlParts, deed: ViewDeed & { kind: 'suggest' }): Promise<ViewOutcome> {
  const { view: viewId, values: _values, ...search } = deed
  return toOptions(await people.suggest({ ...search, viewId }))
}

/** The options, or the acknowledgement if the bot did not answer properly. */
export function toOptions({ acknowledgement, options }: Suggestion): ViewOutcome {
  const isFine = acknowledgement.kind === 'answered' && acknowledgement.refusal === undefined
  return isFine && acknowledgement.status === 200
    ? { kind: 'suggested', what: acknowledgement.what, options }
    : acknowledgement
}

async function submit({ people, views }: ViewControlParts, deed: ViewDeed & { kind: 'submit' }): Promise<ViewOutcome> {
  const errors = findFormErrors(views.stack(deed.user).at(-1) ?? {})
  if (Object.keys(errors).length === 0) return people.submitView({ user: deed.user })
  return { kind: 'unsent', what: 'view_submission', because: 'invalid_input', errors }
}
