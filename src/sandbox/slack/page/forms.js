// One view as DOM, a modal's or a home tab's, and what was put into its fields.
import { drawBlocks, h } from './blocks.js'
import { isSure } from './dialogs.js'
import { drawField, isField, isGroup } from './fields.js'

/**
 * Keeps what people put into views, and draws them. `parts` has `people()` (names, users, channels, person) and
 * `act(deed)`, which tells the sandbox and answers the outcome.
 */
export function createForms({ people, act }) {
  const typed = new Map()
  const errors = new Map()

  /** What stands in the fields of this view, as Slack nests it; what is of fields no longer there is forgotten. */
  function valuesOf(view) {
    const kept = typed.get(view.id) ?? {}
    const start = view.state.values
    const fields = Object.entries(start).flatMap(([block, held]) => Object.keys(held).map((action) => [block, action]))
    const values = {}
    for (const [block, action] of fields) {
      const own = kept[block]?.[action]
      const value = own?.type === start[block][action].type ? own : start[block][action]
      values[block] = { ...values[block], [action]: value }
    }
    typed.set(view.id, values)
    return values
  }

  const inView = (view) => ({ user: people().person, view: view.id })

  async function press(view, one, blockId, selected) {
    if (one.confirm && one.url === undefined && !(await isSure(one.confirm))) return
    const what = { actionId: one.action_id, blockId, values: valuesOf(view), ...(selected ? { selected } : {}) }
    await act({ kind: 'press', ...inView(view), ...what })
  }

  async function search(view, one, blockId, value) {
    const what = { actionId: one.action_id, blockId, values: valuesOf(view), value }
    return (await act({ kind: 'suggest', ...inView(view), ...what })).options ?? []
  }

  function field(view, one, block) {
    const tellsAtOnce = block.type !== 'input' || block.dispatch_action === true
    const blockId = block.block_id
    const values = valuesOf(view)
    return drawField(one, {
      ...people(),
      attributes: attributesOf(one, block, errors.get(view.id)?.[blockId]),
      held: values[blockId]?.[one.action_id] ?? {},
      tellsAtOnce,
      put: (value) => {
        const now = valuesOf(view)
        typed.set(view.id, { ...now, [blockId]: { ...now[blockId], [one.action_id]: { type: one.type, ...value } } })
      },
      tell: () => (tellsAtOnce ? void press(view, one, blockId) : undefined),
      search: (text) => search(view, one, blockId, text),
    })
  }

  return {
    /** The blocks of a view, one below the other. */
    draw: (view) =>
      drawBlocks(view.blocks, {
        names: people().names,
        press: (one, blockId, selected) => void press(view, one, blockId, selected),
        field: (one, block) => (isField(one) ? field(view, one, block) : null),
        input: (block, label, drawn) => inputBlock(block, label, drawn, errors.get(view.id)?.[block.block_id]),
      }),
    /** Submits it; the errors that come back stand at its fields when it is drawn again. */
    submit: async (view) => {
      const outcome = await act({ kind: 'submit', ...inView(view), values: valuesOf(view) })
      errors.set(view.id, outcome.errors ?? {})
      return Object.keys(outcome.errors ?? {}).length === 0
    },
    close: (view, all) => act({ kind: 'close', ...inView(view), ...(all ? { all } : {}) }),
  }
}

const idOf = (block, part) => `${part}-${block.block_id}`

function attributesOf(one, block, error) {
  const isInput = block.type === 'input'
  const described = [isInput && block.hint ? idOf(block, 'hint') : '', error ? idOf(block, 'error') : ''].filter(
    Boolean,
  )
  const name = one.placeholder?.text ?? one.type.replaceAll('_', ' ')
  return {
    id: isInput ? idOf(block, 'field') : null,
    'aria-labelledby': isInput ? idOf(block, 'label') : null,
    'aria-label': isInput ? null : name,
    'aria-describedby': described.length > 0 ? described.join(' ') : null,
    'aria-invalid': error ? 'true' : null,
    autofocus: one.focus_on_load,
    'data-action-id': one.action_id,
    'data-key': `${block.block_id}/${one.action_id}`,
  }
}

/** The label, the field, what helps to fill it in, and what is wrong with it. */
function inputBlock(block, label, drawn, error) {
  const optional = block.optional ? h('span', { class: 'muted small' }, ' (optional)') : null
  const named = isGroup(block.element) ? {} : { for: idOf(block, 'field') }
  return h(
    'div',
    { class: 'block input', 'data-block-id': block.block_id },
    h(isGroup(block.element) ? 'p' : 'label', { class: 'label', id: idOf(block, 'label'), ...named }, label, optional),
    drawn,
    block.hint ? h('p', { class: 'muted small', id: idOf(block, 'hint') }, block.hint.text) : null,
    error ? h('p', { class: 'field-error', id: idOf(block, 'error') }, error) : null,
  )
}
