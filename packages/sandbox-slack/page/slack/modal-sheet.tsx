import type { ComponentChildren } from 'preact'
import { CloseIcon } from '../look/icons.tsx'
import type { View } from '../store/wire.ts'
import { Blocks } from './blocks.tsx'
import './modal-sheet.css'

export interface ModalSheetProps {
  view: Pick<View, 'title' | 'submit' | 'close' | 'submit_disabled' | 'blocks'>
  /** the prefix of the ids of its parts, so that several can be drawn */
  name?: string
  /** the error of the form as a whole */
  trouble?: string | null
  /** it was submitted, and the answer has not arrived yet */
  isSending?: boolean
  /** the number of modals below it */
  below?: number
  appName?: string
  onSubmit?: () => void
  onClose?: () => void
  onCloseAll?: () => void
}

const nothing = (): void => undefined

/** A modal's form: title, blocks and buttons. The scene has the values of its fields. */
export function ModalSheet(props: ModalSheetProps) {
  const { view, name = 'modal', trouble = null, isSending = false, below = 0, appName } = props
  const { onSubmit = nothing, onClose = nothing, onCloseAll = nothing } = props
  const close = view.close?.text ?? 'Cancel'
  return (
    <form
      id={`${name}-form`}
      class="modal-sheet"
      aria-labelledby={`${name}-title`}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <header class="modal-header">
        <h2 id={`${name}-title`} tabIndex={-1}>
          {view.title?.text}
        </h2>
        {appName !== undefined && <span class="badge">{appName}</span>}
        <button type="button" class="icon modal-x" aria-label={`${close} this form`} onClick={onClose}>
          <CloseIcon />
        </button>
      </header>
      <div id={`${name}-blocks`} class="modal-blocks">
        <Blocks blocks={view.blocks} />
      </div>
      <p id={`${name}-trouble`} class="field-error" role="alert">
        {trouble}
      </p>
      <Answers>
        {below > 0 && (
          <button id={`${name}-close-all`} class="button" type="button" onClick={onCloseAll}>
            Close all
          </button>
        )}
        <button id={`${name}-close`} class="button" type="button" onClick={onClose}>
          {close}
        </button>
        {view.submit && (
          <button
            id={`${name}-submit`}
            class="button primary"
            type="submit"
            disabled={isSending || view.submit_disabled === true}
          >
            {view.submit.text}
          </button>
        )}
      </Answers>
    </form>
  )
}

const Answers = ({ children }: { children: ComponentChildren }) => <p class="answers">{children}</p>
