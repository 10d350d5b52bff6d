import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import './menu.css'

export interface MenuItem {
  value: string
  words: ComponentChildren
  /** a second, quieter line */
  more?: string | undefined
  isDanger?: boolean
}

export interface MenuProps {
  /** the label of the button */
  label: string
  /** the content of the button */
  sign: ComponentChildren
  items: readonly MenuItem[]
  onChoose: (value: string) => void
  /** the id of the open menu */
  id?: string
  class?: string
  attributes?: Record<string, string | undefined>
}

/** A button with a menu below it: arrows move, Enter chooses, Escape closes and returns the focus. */
export function Menu({ label, sign, items, onChoose, id, class: look = 'icon', attributes = {} }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const close = (isBack: boolean) => {
    setOpen(false)
    if (isBack) button.current?.focus({ preventScroll: true })
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        class={look}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        {...attributes}
      >
        {sign}
      </button>
      {isOpen && (
        <OpenMenu id={id} label={label} items={items} anchor={button.current} onChoose={onChoose} onClose={close} />
      )}
    </>
  )
}

interface OpenMenuProps extends Pick<MenuProps, 'label' | 'items' | 'onChoose'> {
  id: string | undefined
  anchor: HTMLElement | null
  onClose: (isBack: boolean) => void
}

function OpenMenu({ id, label, items, anchor, onChoose, onClose }: OpenMenuProps) {
  const menu = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const shown = menu.current
    shown?.showPopover()
    if (shown && anchor) placeBelow(shown, anchor)
    shown?.querySelector('button')?.focus({ preventScroll: true })
  }, [])
  const choose = (value: string) => {
    onClose(true)
    onChoose(value)
  }
  return (
    <div
      ref={menu}
      id={id}
      class="menu"
      role="menu"
      tabIndex={-1}
      aria-label={label}
      popover="auto"
      onToggle={({ newState }) =>
        newState === 'closed' && onClose(menu.current?.contains(document.activeElement) ?? false)
      }
      onKeyDown={(event) => moveByKey(event, menu.current, () => onClose(true))}
    >
      {items.map(({ value, words, more, isDanger }) => (
        <button
          key={value}
          class={isDanger ? 'menu-item danger' : 'menu-item'}
          type="button"
          role="menuitem"
          tabIndex={-1}
          value={value}
          onClick={() => choose(value)}
        >
          {words}
          {more !== undefined && <small>{more}</small>}
        </button>
      ))}
    </div>
  )
}

const EDGE_PX = 8

/** Places the menu below the button, or above it if there is no room. It never crosses the window's edge. */
function placeBelow(menu: HTMLElement, anchor: HTMLElement): void {
  const { left, right, top, bottom } = anchor.getBoundingClientRect()
  const { width, height } = menu.getBoundingClientRect()
  const x = left + width + EDGE_PX > innerWidth ? right - width : left
  const y = bottom + height + EDGE_PX > innerHeight ? top - height - 4 : bottom + 4
  menu.style.left = `${Math.max(EDGE_PX, x)}px`
  menu.style.top = `${Math.max(EDGE_PX, y)}px`
}

function moveByKey(event: KeyboardEvent, menu: HTMLElement | null, leave: () => void): void {
  const items = [...(menu?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])]
  const at = items.findIndex((item) => item === document.activeElement)
  const next: Record<string, number> = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  }
  const to = next[event.key]
  if (event.key === 'Tab') return leave()
  if (to === undefined) return
  event.preventDefault()
  items[to]?.focus()
}
