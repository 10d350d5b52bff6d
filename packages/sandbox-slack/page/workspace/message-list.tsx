import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { dayOf, dayWords } from '../slack/when.ts'
import type { Message, User } from '../store/wire.ts'
import { compareTs, keyOf } from '../store/state.ts'
import { useSlack } from '../store/workspace.tsx'
import { MessageRow } from './message-row.tsx'
import { useMessageScenes } from './use-scene.ts'
import './message-list.css'

const SAME_AUTHOR_MS = 5 * 60_000
const NEAR_END_PX = 80

export interface MessageListProps {
  id: string
  label: string
  /** oldest first */
  messages: readonly Message[]
  /** the replies of each root; missing in a thread */
  threads?: ReadonlyMap<string, readonly Message[]>
  /** the ts after which messages are new to the acting person */
  newFrom?: string | null
  /** the text between the first message and the rest, such as the number of replies */
  afterFirst?: string
  empty?: preact.ComponentChildren
  /** a key of what is shown; when it changes, the list scrolls to its end */
  place: string
}

/** A list of messages. If it is at its end, it stays there. Otherwise only an answer to the person scrolls it. */
export function MessageList(props: MessageListProps) {
  const { id, label, messages, empty, place } = props
  const answer = useSlack((state) => state.answer)
  const list = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const lastTop = useRef(0)
  const [hasNewer, setNewer] = useState(false)
  const last = messages.at(-1)
  useLayoutEffect(() => {
    isAtEnd.current = true
    setNewer(false)
  }, [place])
  useLayoutEffect(() => {
    if (messages.some((one) => keyOf(one) === answer)) isAtEnd.current = true
  }, [answer])
  useLayoutEffect(() => {
    if (!isAtEnd.current) setNewer(true)
  }, [last?.ts])
  const stayAtEnd = () => {
    if (isAtEnd.current && list.current) list.current.scrollTop = list.current.scrollHeight
  }
  useLayoutEffect(stayAtEnd)
  useLayoutEffect(() => {
    const observer = new ResizeObserver(stayAtEnd)
    if (list.current) observer.observe(list.current)
    return () => observer.disconnect()
  }, [])
  const onScroll = ({ currentTarget: { scrollTop } }: preact.TargetedEvent<HTMLElement>) => {
    // Only scrolling up leaves the end. The list can also become smaller, as when the tour opens below it.
    isAtEnd.current = isNearEnd(list.current) || (isAtEnd.current && scrollTop >= lastTop.current)
    lastTop.current = scrollTop
    if (isAtEnd.current) setNewer(false)
  }
  return (
    <div class="list-box">
      <div
        id={id}
        ref={list}
        class="messages"
        role="log"
        aria-live="off"
        aria-label={label}
        tabIndex={0}
        onScroll={onScroll}
        // A picture has its height only when it is loaded.
        onLoadCapture={stayAtEnd}
        onKeyDown={moveByKey}
      >
        {messages.length === 0 ? empty : <Rows {...props} />}
      </div>
      {hasNewer && (
        <button class="newer" type="button" onClick={() => list.current?.scrollTo({ top: list.current.scrollHeight })}>
          New messages ↓
        </button>
      )}
    </div>
  )
}

const isNearEnd = (list: HTMLElement | null): boolean =>
  list === null || list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_END_PX

function Rows({ messages, threads, newFrom, afterFirst }: MessageListProps) {
  const users = useSlack((state) => state.users)
  const person = useSlack((state) => state.person)
  const open = useSlack((state) => state.place.thread)
  const sceneOf = useMessageScenes()
  const firstNew = useMemo(
    () =>
      newFrom == null ? undefined : messages.find(({ ts, user }) => user !== person && compareTs(ts, newFrom) > 0)?.ts,
    [messages, newFrom, person],
  )
  const inThread = threads === undefined
  return messages.map((message, index) => {
    const previous = index === 1 && afterFirst !== undefined ? undefined : messages[index - 1]
    const isNewDay = index === 0 || dayOf(messages[index - 1]?.ts ?? '') !== dayOf(message.ts)
    const thread = threads?.get(message.ts) ?? []
    return [
      isNewDay && !inThread && <DayLine key={`day ${message.ts}`} ts={message.ts} />,
      index === 1 && afterFirst !== undefined && <Rule key="after first" words={afterFirst} />,
      message.ts === firstNew && <Rule key="new" words="New" isNew />,
      <MessageRow
        key={message.ts}
        message={message}
        author={authorOf(users, message.user)}
        scene={sceneOf(message)}
        isContinued={
          previous !== undefined && !isNewDay && message.ts !== firstNew && continues(previous, message, inThread)
        }
        inThread={inThread}
        replyCount={thread.filter(({ onlyFor }) => onlyFor === undefined).length}
        hasThread={thread.length > 0}
        lastReplyTs={thread.at(-1)?.ts ?? ''}
        faces={[...new Set(thread.map(({ user }) => user))].slice(0, 3).join(' ')}
        isThreadOpen={!inThread && message.ts === open}
      />,
    ]
  })
}

const authorOf = (users: ReadonlyMap<string, User>, id: string): User =>
  users.get(id) ?? { id, name: id, realName: id, role: 'member' }

const continues = (previous: Message, message: Message, inThread: boolean): boolean =>
  previous.user === message.user &&
  previous.onlyFor === undefined &&
  message.onlyFor === undefined &&
  !message.isTombstone &&
  (inThread || !message.isBroadcast) &&
  (Number(message.ts) - Number(previous.ts)) * 1000 < SAME_AUTHOR_MS

function DayLine({ ts }: { ts: string }) {
  const nowMs = useSlack((state) => state.nowMs)
  const today = new Date(nowMs)
  return (
    <div class="day" role="separator">
      <span>{dayWords(ts, today)}</span>
    </div>
  )
}

function Rule({ words, isNew = false }: { words: string; isNew?: boolean }) {
  return (
    <div class={isNew ? 'rule new' : 'rule'} role="separator">
      <span>{words}</span>
    </div>
  )
}

/** Up and down move between messages, if a message or the list itself has the focus. */
function moveByKey(event: preact.TargetedKeyboardEvent<HTMLElement>): void {
  const list = event.currentTarget
  const active = document.activeElement
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const isMessage = active === list || active?.classList.contains('message')
  if (step === undefined || !isMessage) return
  const rows = [...list.querySelectorAll<HTMLElement>('.message')]
  const at = rows.findIndex((row) => row === active)
  const next = at === -1 ? rows.at(-1) : rows[at + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
