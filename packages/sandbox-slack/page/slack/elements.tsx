import { useState } from 'preact/hooks'
import { DotsIcon } from '../look/icons.tsx'
import type { Block, Element, Value } from '../store/wire.ts'
import { Field } from './fields.tsx'
import { isField } from './field-kinds.ts'
import { Menu } from './menu.tsx'
import { safeUrl } from './mrkdwn.ts'
import { Picture } from './picture.tsx'
import { useScene } from './scene.ts'
import { TextLine } from './text.tsx'

interface ElementProps {
  element: Element
  block: Block
}

/** An element of a block: a button, a menu, a field or a picture. */
export function ElementView({ element, block }: ElementProps) {
  const { form } = useScene()
  if (element.type === 'image') return <Picture {...element} />
  if (element.type === 'button') return <Button element={element} block={block} />
  if (element.type === 'overflow') return <Overflow element={element} block={block} />
  if (!isField(element)) return <span class="muted">(an element of type {element.type})</span>
  return form ? <Field element={element} block={block} /> : <FieldOfMessage element={element} block={block} />
}

export const keyOf = (element: Element, block: Block): string => `${block.block_id}/${element.action_id}`

/** A link button opens its URL in the browser, and also sends a request like any button. */
function Button({ element, block }: ElementProps) {
  const { press } = useScene()
  const { text, style, action_id: actionId, accessibility_label: label } = element
  const url = element.url === undefined ? null : safeUrl(element.url)
  const shared = {
    class: ['button', style, style === 'primary' && 'filled'].filter(Boolean).join(' '),
    'aria-label': label,
    'data-action-id': actionId,
    'data-key': keyOf(element, block),
    onClick: () => press(element, block),
  }
  const words = text && <TextLine text={text} />
  if (url === null)
    return (
      <button type="button" {...shared}>
        {words}
      </button>
    )
  return (
    <a {...shared} href={url} target="_blank" rel="noopener noreferrer">
      {words}
    </a>
  )
}

function Overflow({ element, block }: ElementProps) {
  const { press } = useScene()
  const { options = [], accessibility_label: label = 'More', action_id: actionId } = element
  const items = options.map(({ text, description }, index) => ({
    value: String(index),
    words: <TextLine text={text} />,
    more: description?.text,
  }))
  const choose = (index: string) => press(element, block, { selected_option: options[Number(index)] })
  return (
    <Menu
      label={label}
      sign={<DotsIcon />}
      class="button overflow"
      items={items}
      onChoose={choose}
      attributes={{ 'data-action-id': actionId, 'data-key': keyOf(element, block) }}
    />
  )
}

/** A message has no state for its fields. A choice is sent at once, and is shown until one leaves the channel. */
function FieldOfMessage({ element, block }: ElementProps) {
  const scene = useScene()
  const [held, setHeld] = useState<Value>({})
  return (
    <Field
      element={element}
      block={block}
      own={{ held, put: setHeld, tell: (value) => scene.press(element, block, value) }}
    />
  )
}
