// A place to write in: Enter sends, Shift+Enter begins a new line, and each place keeps what was begun there.

/** `deliver(text, place)` answers whether the words went out; those that did not are there again, to be sent anew. */
export function createComposer(form, deliver) {
  const field = form.querySelector('textarea')
  const drafts = new Map()
  let place = {}
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send()
  })
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    form.requestSubmit()
  })

  async function send() {
    const from = place
    const text = field.value
    field.value = ''
    if (await deliver(text, from)) return
    if (keyOf(from) !== keyOf(place)) drafts.set(keyOf(from), text)
    else if (field.value === '') field.value = text
  }

  /** Moves to a place; `closed` says why nobody may write there, if so. */
  function show(next, { label, closed }) {
    if (keyOf(next) !== keyOf(place)) {
      drafts.set(keyOf(place), field.value)
      field.value = drafts.get(keyOf(next)) ?? ''
    }
    place = next
    field.placeholder = closed ?? label
    field.setAttribute('aria-label', label)
    for (const part of [field, form.querySelector('button')]) part.disabled = Boolean(closed)
  }

  return { show, focus: () => field.focus() }
}

const keyOf = ({ channel, threadTs }) => `${channel}/${threadTs ?? ''}`
