// The questions that the page asks: whether one is sure, and what to do with a message.
import { plainText } from './mrkdwn.js'

const byId = (id) => document.getElementById(id)

for (const dialog of document.querySelectorAll('dialog:not(#modal)')) {
  dialog.addEventListener('click', ({ target }) => {
    const button = target.closest('button')
    if (button) dialog.close(button.value)
  })
}

/** Asks with the words of an element's `confirm`; true when the person says yes. */
export async function isSure({ title, text, confirm, deny, style }) {
  byId('confirm-title').textContent = title.text
  byId('confirm-text').textContent = text.type === 'mrkdwn' ? plainText(text.text) : text.text
  byId('confirm-no').textContent = deny.text
  byId('confirm-yes').textContent = confirm.text
  byId('confirm-yes').className = `button ${style ?? 'primary'}`
  return (await ask(byId('confirm'))) === 'yes'
}

/** Asks what to do with a message: `reply`, the id of a shortcut, or '' for nothing. */
export function chooseAct(name, { canReply }) {
  byId('message-menu-title').textContent = name
  byId('message-menu').querySelector('[value="reply"]').hidden = !canReply
  return ask(byId('message-menu'))
}

function ask(dialog) {
  dialog.returnValue = ''
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue), { once: true })
  })
}
