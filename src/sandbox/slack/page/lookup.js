// A menu that asks the bot for its options while one types. Enter takes the first; Tab and Enter take any other.
import { h } from './blocks.js'

const TYPING_PAUSE_MS = 200
/** Slack asks from so many characters on, unless the menu says otherwise. */
const QUERY_LENGTH_MIN = 3

export function lookup(one, at) {
  const isSeveral = one.type.startsWith('multi_')
  const name = isSeveral ? 'selected_options' : 'selected_option'
  const min = one.min_query_length ?? QUERY_LENGTH_MIN
  const label = one.placeholder?.text ?? 'Type to search'
  const field = h('input', { ...at.attributes, type: 'search', placeholder: label, autocomplete: 'off' })
  const chosen = h('ul', { class: 'chosen', 'aria-label': 'Chosen' })
  const found = h('ul', { class: 'found', 'aria-label': 'Found' })
  let held = [at.held[name] ?? []].flat()
  let asked = 0
  let timer

  function choose(options) {
    held = options
    found.replaceChildren()
    field.value = ''
    drawChosen()
    at.put({ [name]: isSeveral ? held : (held[0] ?? null) })
    at.tell()
  }

  function drawChosen() {
    chosen.replaceChildren(...held.map((option) => h('li', {}, option.text.text, removal(option))))
    chosen.hidden = held.length === 0
  }

  function removal(option) {
    const button = h('button', { type: 'button', class: 'icon', 'aria-label': `Take ${option.text.text} away` }, '✕')
    button.addEventListener('click', () => choose(held.filter((other) => other !== option)))
    return button
  }

  async function ask() {
    const turn = (asked += 1)
    if ([...field.value].length < min) return found.replaceChildren()
    const options = await at.search(field.value)
    // An answer that was overtaken by more typing shows what nobody asks for any more.
    if (turn === asked) found.replaceChildren(...(options.length > 0 ? options.map(offer) : [NONE()]))
  }

  function offer(option) {
    const button = h('button', { type: 'button', 'data-value': option.value }, option.text.text)
    button.addEventListener('click', () => {
      choose(isSeveral ? [...held.filter(({ value }) => value !== option.value), option] : [option])
      field.focus()
    })
    return h('li', {}, button)
  }

  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => void ask(), TYPING_PAUSE_MS)
  })
  field.addEventListener('focus', () => min === 0 && field.value === '' && void ask())
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    found.querySelector('button')?.click()
  })
  drawChosen()
  return h('div', { class: 'lookup' }, chosen, field, found)
}

const NONE = () => h('li', { class: 'muted small' }, 'No results')
