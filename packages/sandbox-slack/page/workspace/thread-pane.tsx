import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { CloseIcon } from '../look/icons.tsx'
import { messagesFor } from '../store/read.ts'
import type { Channel, Message } from '../store/wire.ts'
import { useActs, useSlack } from '../store/workspace.tsx'
import { Composer } from './composer.tsx'
import { MessageList } from './message-list.tsx'
import { countOf } from './message-row.tsx'

/** The open thread, beside its channel. Escape closes it. */
export function ThreadPane() {
  const channel = useSlack(({ channels, place }) => channels.get(place.channel))
  const root = useSlack(({ messages, place }) => messages.get(place.channel)?.get(place.thread ?? ''))
  return (
    <aside id="thread" class="pane thread" aria-label="Thread" hidden={!root || !channel}>
      {root && channel && <Open key={root.ts} root={root} channel={channel} />}
    </aside>
  )
}

function Open({ root, channel }: { root: Message; channel: Channel }) {
  const { go } = useActs()
  const title = useRef<HTMLHeadingElement>(null)
  useCloseByKey(() => go(channel.id))
  useFocusWhileOpen(title)
  return (
    <>
      <header class="pane-header">
        <h2 id="thread-title" ref={title} tabIndex={-1}>
          Thread <span id="thread-channel">{channel.kind === 'im' ? '' : `#${channel.name}`}</span>
        </h2>
        <button
          id="thread-close"
          class="icon pane-close"
          type="button"
          aria-label="Close the thread"
          onClick={() => go(channel.id)}
        >
          <CloseIcon />
        </button>
      </header>
      <Replies root={root} channel={channel} />
      <Composer at={{ channel: channel.id, threadTs: root.ts }} id="write-reply" fieldId="reply" />
    </>
  )
}

/** Focuses the thread when it opens, and returns the focus when it closes. */
function useFocusWhileOpen(title: { current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const before = document.activeElement
    title.current?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [])
}

/** Escape closes the thread, unless a dialog, menu or list of suggestions above it handles the key. */
function useCloseByKey(close: () => void): void {
  const latest = useRef(close)
  latest.current = close
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTaken = event.defaultPrevented || document.querySelector('dialog[open], :popover-open')
      if (event.key === 'Escape' && !isTaken) latest.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

function Replies({ root, channel }: { root: Message; channel: Channel }) {
  const messages = useSlack((state) => state.messages)
  const person = useSlack((state) => state.person)
  const dismissed = useSlack((state) => state.dismissed)
  const own = messages.get(channel.id)
  const thread = useMemo(
    () => messagesFor({ messages, person, dismissed }, channel.id).filter((one) => one.root === root.ts),
    [own, person, dismissed, root.ts],
  )
  const shown = useMemo(() => [root, ...thread], [root, thread])
  const count = thread.filter(({ onlyFor }) => onlyFor === undefined).length
  return (
    <MessageList
      id="replies"
      label="Replies"
      messages={shown}
      afterFirst={countOf(count)}
      place={`${root.ts} ${person}`}
    />
  )
}
