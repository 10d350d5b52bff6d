import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import './dialog.css'

export interface DialogProps {
  id: string
  labelledBy: string
  describedBy?: string
  /** what has the focus at first; without it the browser's choice */
  focusFirst?: RefObject<HTMLElement | null>
  /** Escape, or a click beside it */
  onClose: () => void
  /** whether a click beside it closes it */
  isLight?: boolean
  children: ComponentChildren
}

/** A dialog over the page, open as long as it is drawn. The focus goes back to where it came from. */
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
      // What is closed from here on was closed by whoever drew it.
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
      // Browsers close a dialog themselves at a second Escape.
      onClose={() => close.current()}
      onClick={({ target, currentTarget }) => isLight && target === currentTarget && close.current()}
    >
      {children}
    </dialog>
  )
}
