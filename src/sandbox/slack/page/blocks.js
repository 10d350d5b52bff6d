// Block Kit as DOM. Outside text only ever enters through textContent.
import { emojiNode, parseMrkdwn, safeUrl } from './mrkdwn.js'

/** Makes an element: `h('b', { class: 'x' }, 'text', child)`. Attributes that are null or false are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined))
  return element
}

/** mrkdwn text as DOM nodes. */
export const mrkdwn = (text, names) => parseMrkdwn(text, names).map(draw)

const TAGS = { bold: 'b', italic: 'i', strike: 's', code: 'code', pre: 'pre' }

function draw(node) {
  if (node.kind === 'text') return document.createTextNode(node.text)
  if (node.kind === 'link') return link(node.url, node.children.map(draw))
  if (node.kind === 'emoji')
    return h('span', { class: 'emoji', role: 'img', 'aria-label': node.name.replaceAll('_', ' ') }, node.text)
  if (node.kind === 'mention') return h('span', { class: 'mention' }, node.text)
  if (node.kind === 'time') return h('time', { datetime: node.iso }, node.text)
  return h(TAGS[node.kind], {}, node.children ? node.children.map(draw) : node.text)
}

const link = (url, children) => h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, children)

/** A text object: mrkdwn is formatted, plain text is drawn as it stands, but for emoji where it asks for them. */
function textObject(text, names) {
  if (!text) return []
  if (text.type === 'mrkdwn') return mrkdwn(text.text, names)
  if (text.emoji === false) return [text.text]
  return text.text
    .split(/(:[a-z0-9_+-]+:)/)
    .filter(Boolean)
    .map((part) => (/^:.+:$/.test(part) ? draw(emojiNode(part.slice(1, -1))) : part))
}

/**
 * Blocks, one below the other. `scene` has the `names` and `press(element, blockId, selected)`, which is called when the
 * person uses an element. In a view it draws the fields, too: `field(element, block)`, and `input(block, label, field)`
 * around them.
 */
export const drawBlocks = (blocks, scene) => blocks.map((block) => (DRAW[block.type] ?? unknownBlock)(block, scene))

const DRAW = {
  section: (block, scene) =>
    h(
      'div',
      { class: 'block section' },
      h(
        'div',
        { class: 'section-text' },
        block.text ? h('div', { class: 'text' }, textObject(block.text, scene.names)) : null,
        block.fields
          ? h(
              'div',
              { class: 'fields' },
              block.fields.map((field) => h('div', {}, textObject(field, scene.names))),
            )
          : null,
      ),
      block.accessory ? drawElement(block.accessory, block, scene) : null,
    ),
  header: (block, { names }) => h('h3', { class: 'block header' }, textObject(block.text, names)),
  divider: () => h('hr', { class: 'block' }),
  context: (block, { names }) =>
    h(
      'div',
      { class: 'block context' },
      block.elements.map((one) => (one.type === 'image' ? picture(one) : h('span', {}, textObject(one, names)))),
    ),
  actions: (block, scene) =>
    h(
      'div',
      { class: 'block actions' },
      block.elements.map((one) => drawElement(one, block, scene)),
    ),
  image: (block) =>
    h('figure', { class: 'block image' }, block.title ? h('figcaption', {}, block.title.text) : null, picture(block)),
  input: (block, scene) => {
    const label = textObject(block.label, scene.names)
    const field = drawElement(block.element, block, scene)
    return scene.input?.(block, label, field) ?? h('div', { class: 'block input' }, h('label', {}, label), field)
  },
  markdown: (block) => h('div', { class: 'block text' }, block.text),
  rich_text: (block, { names }) =>
    h(
      'div',
      { class: 'block text' },
      block.elements.map((one) => richPart(one, names)),
    ),
}

const unknownBlock = (block) => h('div', { class: 'block muted' }, `(a block of type ${block.type})`)

function drawElement(one, block, scene) {
  if (one.type === 'image') return picture(one)
  const field = scene.field?.(one, block)
  if (field) return field
  const press = (selected) => scene.press(one, block.block_id, selected)
  const key = `${block.block_id}/${one.action_id}`
  if (one.type === 'button') return button(one, { names: scene.names, press, key })
  if (one.type === 'overflow' || one.type === 'static_select') return choice(one, { press, key })
  const label = one.placeholder?.text ?? one.type.replaceAll('_', ' ')
  return h('button', { type: 'button', class: 'menu', disabled: true, title: 'Not played on this page' }, `${label} ▾`)
}

/** A link opens by itself, and its click is told like any other. */
function button(one, { names, press, key }) {
  const url = one.url ? safeUrl(one.url) : null
  const shared = {
    class: ['button', one.style].filter(Boolean).join(' '),
    'aria-label': one.accessibility_label,
    'data-action-id': one.action_id,
    'data-key': key,
  }
  const itsOwn = url ? { href: url, target: '_blank', rel: 'noopener noreferrer' } : { type: 'button' }
  const drawn = h(url ? 'a' : 'button', { ...shared, ...itsOwn }, textObject(one.text, names))
  drawn.addEventListener('click', () => press())
  return drawn
}

function choice(one, { press, key }) {
  const options = one.options ?? one.option_groups.flatMap((group) => group.options)
  const label = one.placeholder?.text ?? 'More'
  const first = h('option', { value: '', selected: true, disabled: true, hidden: true }, label)
  const items = options.map((option, index) => h('option', { value: index }, option.text.text))
  const drawn = h('select', { 'aria-label': label, 'data-action-id': one.action_id, 'data-key': key }, first, items)
  drawn.addEventListener('change', () => press({ selected_option: options[Number(drawn.value)] }))
  return drawn
}

/** A picture from this machine is shown; any other is a link, for this page asks nobody outside. */
export function picture({ image_url: address, slack_file: file, alt_text: alt }) {
  const url = address ?? file?.url ?? `${location.origin}/files/${file?.id}`
  const isLocal = URL.canParse(url) && ['127.0.0.1', 'localhost'].includes(new URL(url).hostname)
  if (isLocal || url.startsWith('data:image/')) return h('img', { src: url, alt, title: alt })
  return safeUrl(url) ? link(url, [alt]) : h('span', {}, alt)
}

const RICH_TAGS = { rich_text_section: 'div', rich_text_quote: 'blockquote', rich_text_preformatted: 'pre' }

function richPart(part, names) {
  if (part.type !== 'rich_text_list')
    return h(
      RICH_TAGS[part.type] ?? 'div',
      {},
      part.elements.map((one) => richInline(one, names)),
    )
  const items = part.elements.map((item) =>
    h(
      'li',
      {},
      item.elements.map((one) => richInline(one, names)),
    ),
  )
  return h(part.style === 'ordered' ? 'ol' : 'ul', {}, items)
}

function richInline(one, names) {
  if (one.type === 'text') return styled(one)
  if (one.type === 'link') return safeUrl(one.url) ? link(one.url, [one.text ?? one.url]) : (one.text ?? one.url)
  if (one.type === 'emoji') return draw(emojiNode(one.name))
  if (one.type === 'user') return h('span', { class: 'mention' }, `@${names.users?.[one.user_id] ?? one.user_id}`)
  if (one.type === 'channel')
    return h('span', { class: 'mention' }, `#${names.channels?.[one.channel_id] ?? one.channel_id}`)
  if (one.type === 'broadcast') return h('span', { class: 'mention' }, `@${one.range}`)
  return one.fallback ?? one.value ?? ''
}

function styled({ text, style = {} }) {
  const marks = [
    ['bold', 'b'],
    ['italic', 'i'],
    ['strike', 's'],
    ['underline', 'u'],
    ['code', 'code'],
  ]
  return marks
    .filter(([name]) => style[name])
    .reduce((inner, [, tag]) => h(tag, {}, inner), document.createTextNode(text))
}
