// The app's own surfaces: the modal that lies open before the acting person, and their home tab.
import { h } from './blocks.js'
import { createForms } from './forms.js'

const byId = (id) => document.getElementById(id)
const FIELDS = 'input, textarea, select, button'

/** `parts` is what forms need, and `bot()`, the app's name. */
export function createSurfaces(parts) {
  const forms = createForms(parts)
  const open = new Map()
  const dialog = byId('modal')
  let drawn = ''
  const top = () => open.get(parts.people().person)?.stack.at(-1)

  byId('modal-form').addEventListener('submit', (event) => {
    event.preventDefault()
    void submit()
  })
  byId('modal-close').addEventListener('click', () => close())
  byId('modal-close-all').addEventListener('click', () => close(true))
  // The sandbox closes it: what the page shows follows what is open there.
  dialog.addEventListener('cancel', (event) => {
    if (!event.cancelable) return
    event.preventDefault()
    close()
  })
  // Browsers close it themselves at a second Escape; then it is closed in the sandbox, too.
  dialog.addEventListener('close', () => close())

  async function submit() {
    const view = top()
    if (!view || byId('modal-submit').disabled) return
    byId('modal-submit').disabled = true
    const isRight = await forms.submit(view)
    byId('modal-submit').disabled = false
    if (isRight || top()?.id !== view.id) return
    drawModal({ isAnew: true })
    focusOn(dialog.querySelector('[aria-invalid]'))
  }

  function close(all = false) {
    const view = top()
    if (view) void forms.close(view, all)
  }

  function drawModal({ isAnew = false } = {}) {
    const view = top()
    if (!view) {
      drawn = ''
      return dialog.close()
    }
    const version = `${view.id}/${view.hash}`
    if (version === drawn && dialog.open && !isAnew) return
    const isOther = !drawn.startsWith(`${view.id}/`)
    drawn = version
    fillModal(view)
    if (!dialog.open) dialog.showModal()
    if (isOther) focusOn(firstIn(byId('modal-blocks')))
  }

  function fillModal(view) {
    byId('modal-title').textContent = view.title.text
    byId('modal-submit').textContent = view.submit?.text ?? ''
    byId('modal-submit').hidden = !view.submit
    byId('modal-submit').disabled = view.submit_disabled === true
    byId('modal-close').textContent = view.close?.text ?? 'Cancel'
    byId('modal-close-all').hidden = (open.get(parts.people().person)?.stack.length ?? 0) < 2
    keepFocus(byId('modal-blocks'), forms.draw(view))
  }

  function drawHome() {
    const view = open.get(parts.people().person)?.home
    const none = h('p', { class: 'muted' }, `${parts.bot()} has published no home tab for this person.`)
    byId('home-title').textContent = parts.bot()
    keepFocus(byId('home-blocks'), view ? forms.draw(view) : [none])
  }

  return {
    /** What people have open: `{ stack, home }` by person. */
    load: (views) => {
      open.clear()
      for (const [user, shown] of Object.entries(views)) open.set(user, shown)
    },
    change: ({ user, stack, home }) => open.set(user, { stack, home }),
    draw: () => {
      drawModal()
      drawHome()
    },
  }
}

/** What asks for the focus, or the first field, or the first of whatever can be used. */
const firstIn = (blocks) => blocks.querySelector('[autofocus]') ?? blocks.querySelector('.input') ?? blocks

/** A field, or the first one within what is not one. */
function focusOn(element) {
  const field = element?.matches(FIELDS) ? element : element?.querySelector(FIELDS)
  field?.focus()
}

/** Draws anew; what had the focus has it again, at the same place in its text. */
function keepFocus(box, items) {
  const active = box.contains(document.activeElement) ? document.activeElement : null
  const key = active?.dataset.key
  const [from, to] = [active?.selectionStart ?? null, active?.selectionEnd ?? null]
  box.replaceChildren(...items)
  const again = key === undefined ? null : box.querySelector(`[data-key="${CSS.escape(key)}"]`)
  again?.focus({ preventScroll: true })
  if (again && from !== null && 'setSelectionRange' in again) again.setSelectionRange(from, to)
}
