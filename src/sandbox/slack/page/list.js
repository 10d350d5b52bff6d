// A list of messages that is drawn anew at each change, and what the reader must not notice of that.

const NEAR_END_PX = 80

/** Redraws a list and keeps the reader's place: at the end one stays at the end, elsewhere nothing moves. */
export function fill(list, items, { toEnd = false, isNew = false, newer = null }) {
  const wasNearEnd = toEnd || isNearEnd(list)
  const place = list.scrollTop
  const focused = focusedIn(list)
  list.replaceChildren(...items)
  if (wasNearEnd) scrollToEnd(list)
  else list.scrollTop = place
  if (newer) newer.hidden = wasNearEnd || !(isNew || !newer.hidden)
  if (focused) (list.querySelector(focused) ?? list).focus({ preventScroll: true })
}

export const isNearEnd = (list) => list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_END_PX

export const scrollToEnd = (list) => {
  list.scrollTop = list.scrollHeight
}

/** Where to find what has the focus once it is drawn again: by message, and by its key within. */
function focusedIn(list) {
  const active = document.activeElement
  const message = list.contains(active) ? active.closest('[data-ts]') : null
  if (!message) return null
  return `[data-ts="${CSS.escape(message.dataset.ts)}"] [data-key="${CSS.escape(active.dataset.key ?? '')}"]`
}
