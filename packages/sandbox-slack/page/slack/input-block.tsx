import type { Block } from '../store/wire.ts'
import { ElementView } from './elements.tsx'
import { isGroup } from './field-kinds.ts'
import { idOf } from './fields.tsx'
import { useScene } from './scene.ts'
import { TextLine } from './text.tsx'

/** An input block: label, field, error and hint. */
export function InputBlock({ block }: { block: Block }) {
  const error = useScene().form?.errors[block.block_id ?? '']
  const { element, label, hint, optional } = block
  if (!element || !label) return null
  const words = (
    <>
      <TextLine text={label} />
      {optional && <span class="muted small"> (optional)</span>}
    </>
  )
  return (
    <div class="block input" data-block-id={block.block_id}>
      {isGroup(element) ? (
        <p class="label" id={idOf(block, 'label')}>
          {words}
        </p>
      ) : (
        <label class="label" id={idOf(block, 'label')} for={idOf(block, 'field')}>
          {words}
        </label>
      )}
      <ElementView element={element} block={block} />
      {error !== undefined && (
        <p class="field-error" id={idOf(block, 'error')}>
          {error}
        </p>
      )}
      {hint && (
        <p class="muted small" id={idOf(block, 'hint')}>
          {hint.text}
        </p>
      )}
    </div>
  )
}
