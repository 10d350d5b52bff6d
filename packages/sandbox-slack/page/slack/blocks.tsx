import type { Block, Element, RichElement, TextObject } from '../store/wire.ts'
import { ElementView } from './elements.tsx'
import { InputBlock } from './input-block.tsx'
import { Picture } from './picture.tsx'
import { RichText } from './rich-text.tsx'
import { useScene } from './scene.ts'
import { TextLine } from './text.tsx'
import './blocks.css'

/** Draws blocks, one below the other. The scene handles their use. */
export function Blocks({ blocks }: { blocks: readonly Block[] }) {
  const { form } = useScene()
  const nth = new Map<string, number>()
  return blocks.map((block) => {
    const count = (nth.get(block.type) ?? 0) + 1
    nth.set(block.type, count)
    // In a message, generated block ids change with each edit. A stable key keeps the focus where it is.
    const key = form && block.block_id !== undefined ? block.block_id : `${block.type} ${count}`
    return <BlockView key={key} block={block} />
  })
}

function BlockView({ block }: { block: Block }) {
  const Drawn = DRAWN[block.type]
  return Drawn ? <Drawn block={block} /> : <div class="block muted">(a block of type {block.type})</div>
}

type BlockComponent = (props: { block: Block }) => preact.ComponentChild

const DRAWN: Record<string, BlockComponent | undefined> = {
  section: Section,
  header: Header,
  divider: () => <hr class="block" />,
  context: Context,
  actions: Actions,
  image: Image,
  input: ({ block }) => <InputBlock block={block} />,
  markdown: ({ block }) => <div class="block text">{textOf(block)}</div>,
  rich_text: ({ block }) => (
    <div class="block text">
      <RichText parts={(block.elements ?? []).filter(isRich)} />
    </div>
  ),
}

const textOf = ({ text }: Block): string => (typeof text === 'string' ? text : (text?.text ?? ''))

function Section({ block }: { block: Block }) {
  const { text, fields, accessory } = block
  return (
    <div class="block section">
      <div class="section-text">
        {typeof text === 'object' && (
          <div class="text">
            <TextLine text={text} />
          </div>
        )}
        {fields && (
          <div class="fields">
            {fields.map((field, index) => (
              <div key={index}>
                <TextLine text={field} />
              </div>
            ))}
          </div>
        )}
      </div>
      {accessory && (
        <div class="accessory">
          <ElementView element={accessory} block={block} />
        </div>
      )}
    </div>
  )
}

function Header({ block }: { block: Block }) {
  return <h3 class="block header">{typeof block.text === 'object' && <TextLine text={block.text} />}</h3>
}

const isRich = (one: object): one is RichElement => 'type' in one && String(one.type).startsWith('rich_text')

const isText = (one: object): one is TextObject => 'type' in one && (one.type === 'mrkdwn' || one.type === 'plain_text')

function Context({ block }: { block: Block }) {
  return (
    <div class="block context">
      {(block.elements ?? []).map((one, index) =>
        isText(one) ? (
          <span key={index}>
            <TextLine text={one} />
          </span>
        ) : (
          <Picture key={index} {...one} />
        ),
      )}
    </div>
  )
}

const isElement = (one: object): one is Element => 'type' in one && !isText(one)

function Actions({ block }: { block: Block }) {
  return (
    <div class="block actions">
      {(block.elements ?? []).filter(isElement).map((one, index) => (
        <ElementView key={one.action_id ?? index} element={one} block={block} />
      ))}
    </div>
  )
}

function Image({ block }: { block: Block }) {
  return (
    <figure class="block image">
      {block.title && <figcaption class="muted small">{block.title.text}</figcaption>}
      <Picture {...block} />
    </figure>
  )
}
