import { useLayoutEffect, useState } from 'preact/hooks'
import { ModalSheet } from '../slack/modal-sheet.tsx'
import { SceneProvider } from '../slack/scene.ts'
import type { View } from '../store/wire.ts'
import { useSlack } from '../store/workspace.tsx'
import { Dialog } from './dialog.tsx'
import { useForm } from './use-form.ts'

/** The acting person's top modal. The page shows what is open in the sandbox. */
export function OpenModal() {
  const person = useSlack((state) => state.person)
  const view = useSlack((state) => state.views[state.person]?.stack.at(-1) ?? null)
  return view && <Open key={person} view={view} person={person} />
}

function Open({ view, person }: { view: View; person: string }) {
  const form = useForm(view, person)
  const below = useSlack((state) => (state.views[person]?.stack.length ?? 1) - 1)
  const trouble = useSlack((state) => state.trouble)
  const appName = useSlack((state) => state.bot.name)
  const [isSending, setSending] = useState(false)
  useLayoutEffect(() => focusFirst(), [view.id])
  const submit = async () => {
    if (isSending || !view.submit) return
    setSending(true)
    const { isRight } = await form.submit()
    setSending(false)
    if (!isRight) requestAnimationFrame(() => focusOn(document.querySelector('#modal [aria-invalid]')))
  }
  return (
    <Dialog id="modal" labelledBy="modal-title" onClose={() => form.close(false)}>
      <SceneProvider value={form.scene}>
        <ModalSheet
          key={view.id}
          view={view}
          trouble={trouble}
          isSending={isSending}
          below={below}
          appName={appName}
          onSubmit={() => void submit()}
          onClose={() => form.close(false)}
          onCloseAll={() => form.close(true)}
        />
      </SceneProvider>
    </Dialog>
  )
}

const FIELDS = 'input, textarea, select, button, a'

/** Focuses the element with `focus_on_load`, or else the first field, the first usable element, or the title. */
function focusFirst(): void {
  const blocks = document.querySelector('#modal-blocks')
  const wanted = blocks?.querySelector('[data-focus]') ?? blocks?.querySelector('.input') ?? blocks
  if (!focusOn(wanted)) document.querySelector<HTMLElement>('#modal-title')?.focus()
}

/** Focuses the element if it is a field, or else the first field in it. False if there is none. */
function focusOn(element: Element | null | undefined): boolean {
  const field = element?.matches(FIELDS) ? element : element?.querySelector(FIELDS)
  if (!(field instanceof HTMLElement)) return false
  field.focus()
  return true
}
