import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import './dialog.css'

export interface DialogProps {
  id: string
  labelledBy: string
  describedBy?: string
  /** the element that gets the focus first; by default the browser chooses */
  focusFirst?: RefObject<HTMLElement | null>
  /** called on Escape, and on a click beside the dialog if `isLight` */
  onClose: () => void
  /** whether a click beside the dialog closes it */
  isLight?: boolean
  children: ComponentChildren
}

/** A modal dialog. It is open as long as it is drawn. Afterwards the focus returns to where it was. */
export function Dialog({ id, labelledBy, describedBy, focusFirst, onClose, isLight = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const close = useRef(onClose)
  close.current = onClose
  useLayoutEffect(() => {
    const shown = dialog.current
    const before = document.activeElement
    shown?.showModal()
    focusFirst?.current?.focus()
    return () => {
      // From here on the parent closes the dialog, so do not call `onClose`.
      close.current = () => undefined
      shown?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog
      id={id}
      ref={dialog}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      onCancel={(event) => {
        event.preventDefault()
        close.current()
      }}
      // At a second Escape, browsers close a dialog without `onCancel`.
      onClose={() => close.current()}
      onClick={({ target, currentTarget }) => isLight && target === currentTarget && close.current()}
    >
      {children}
    </dialog>
  )
}
