// Whom the page acts for. The browser remembers it.
import { h } from './blocks.js'

const KEPT_AS = 'person'
const select = document.getElementById('person')

/** The id of the person acting now. */
export const person = () => select.value

/** Offers the workspace's own people. */
export function offerPeople(users) {
  const people = users.filter(({ role, team, isDeactivated }) => role !== 'bot' && !team && !isDeactivated)
  const kept = select.value || localStorage.getItem(KEPT_AS)
  select.replaceChildren(...people.map(optionOf))
  if (people.some(({ id }) => id === kept)) select.value = kept
}

const optionOf = ({ id, realName, role }) =>
  h('option', { value: id }, role === 'member' ? realName : `${realName} (${role})`)

export const onPersonChange = (changed) =>
  select.addEventListener('change', () => {
    localStorage.setItem(KEPT_AS, select.value)
    changed()
  })
