import { useMemo, useRef, useState } from 'preact/hooks'
import type { Form, Scene } from '../slack/scene.ts'
import type { Block, Element, Value, Values, View } from '../store/wire.ts'
import { useActs, useNow, useSlack } from '../store/workspace.tsx'
import { useAsk } from './ask.tsx'
import { useNames } from './use-names.ts'

/** An open view and its input. */
export interface OpenForm {
  scene: Scene
  /** submits the view, and shows the errors of the answer at the fields */
  submit(): Promise<{ isRight: boolean }>
  close(isAll: boolean): void
}

/** The input by view id. It is kept while the view is not shown. */
const typed = new Map<string, Values>()

/** The scene of a view that `user` has open. */
export function useForm(view: View, user: string): OpenForm {
  const { perform } = useActs()
  const ask = useAsk()
  const names = useNames()
  const now = useNow()
  const users = useSlack((state) => state.users)
  const channels = useSlack((state) => state.channels)
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [, redraw] = useState(0)
  const latest = useRef(view)
  latest.current = view

  return useMemo(() => {
    const inView = () => ({ user, view: latest.current.id, values: valuesOf(latest.current) })
    const at = (element: Element, block: Block) => ({ actionId: element.action_id, blockId: block.block_id })
    const press = async (element: Element, block: Block, selected?: Value) => {
      if (element.confirm && element.url === undefined && !(await ask(element.confirm))) return
      await perform({ kind: 'press', ...inView(), ...at(element, block), ...(selected ? { selected } : {}) })
    }
    const form: Form = {
      held: (element, block) => valuesOf(latest.current)[block.block_id ?? '']?.[element.action_id ?? ''] ?? {},
      put: (element, block, value) => {
        put(latest.current, element, block, value)
        redraw((count) => count + 1)
      },
      tell: (element, block) => {
        const tellsAtOnce = block.type !== 'input' || block.dispatch_action === true
        if (tellsAtOnce) void press(element, block)
      },
      errors,
    }
    const scene: Scene = {
      names,
      users: [...users.values()],
      channels: [...channels.values()],
      person: user,
      press: (element, block, selected) => void press(element, block, selected),
      search: async (element, block, value) =>
        (await perform({ kind: 'suggest', ...inView(), ...at(element, block), value })).outcome.options ?? [],
      form,
    }
    return {
      scene,
      submit: async () => {
        const { outcome } = await perform({ kind: 'submit', ...inView() })
        setErrors(outcome.errors ?? {})
        return { isRight: Object.keys(outcome.errors ?? {}).length === 0 }
      },
      close: (isAll) => {
        const isOpen = now().views[user]?.stack.at(-1)?.id === latest.current.id
        if (isOpen) void perform({ kind: 'close', user, view: latest.current.id, ...(isAll ? { all: true } : {}) })
      },
    }
  }, [user, view.id, errors, names, users, channels])
}

/** The values of the view's fields, nested like Slack's. Input of fields that no longer exist is dropped. */
function valuesOf(view: View): Values {
  const kept = typed.get(view.id) ?? {}
  const values: Values = {}
  for (const [block, fields] of Object.entries(view.state?.values ?? {})) {
    values[block] = Object.fromEntries(
      Object.entries(fields).map(([action, start]): [string, Value] => {
        const own = kept[block]?.[action]
        return [action, own && own.type === start.type ? own : start]
      }),
    )
  }
  typed.set(view.id, values)
  return values
}

function put(view: View, { action_id: action = '' }: Element, { block_id: id = '' }: Block, value: Value): void {
  const values = valuesOf(view)
  typed.set(view.id, { ...values, [id]: { ...values[id], [action]: { ...value } } })
}
