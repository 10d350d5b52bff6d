import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { MentionIcon, SendIcon, SlashIcon } from '../look/icons.tsx'
import { partnerIn } from '../store/direct.ts'
import type { Channel } from '../store/wire.ts'
import { channelsOf } from '../store/state.ts'
import type { State } from '../store/state.ts'
import { useActs, useNow, useSlack } from '../store/workspace.tsx'
import { suggest } from './suggest.ts'
import type { Suggestion, Suggestions } from './suggest.ts'
import { SuggestionList } from './suggestion-list.tsx'
import './composer.css'

export interface ComposerProps {
  at: { channel: string; threadTs?: string }
  id: string
  fieldId: string
}

/** Unsent texts, by channel and thread. */
const drafts = new Map<string, string>()

const keyOf = ({ channel, threadTs = '' }: ComposerProps['at']): string => `${channel}/${threadTs}`

/** A field to write in: Enter sends, Shift+Enter starts a new line. Each channel and thread keeps its draft. */
export function Composer(props: ComposerProps) {
  return <Writing key={keyOf(props.at)} {...props} />
}

function Writing({ at, id, fieldId }: ComposerProps) {
  const [text, setText] = useState(drafts.get(keyOf(at)) ?? '')
  const field = useRef<HTMLTextAreaElement>(null)
  const latest = useRef(text)
  const { send } = useActs()
  const offers = useSuggestions(text, field, at.threadTs !== undefined)
  const { label, closed } = useWords(at)
  const write = (next: string, caret?: number) => {
    latest.current = next
    drafts.set(keyOf(at), next)
    setText(next)
    if (caret !== undefined) requestAnimationFrame(() => field.current?.setSelectionRange(caret, caret))
  }
  const submit = async () => {
    const sent = latest.current
    write('')
    offers.close()
    if (await send(sent, at)) return
    // Restore a text that was not sent, unless the person has typed something else.
    if (latest.current === '') write(sent)
  }
  const take = ({ insert }: Suggestion) => {
    const { from, to } = offers.shown
    const next = text.slice(0, from) + insert + text.slice(to).replace(/^ /, '')
    write(next, from + insert.length)
    field.current?.focus()
  }
  const begin = (sign: string) => {
    const next = sign === '/' ? '/' : `${text}${text === '' || text.endsWith(' ') ? '' : ' '}${sign}`
    write(next, next.length)
    field.current?.focus()
    offers.open()
  }
  return (
    <form
      id={id}
      class="composer"
      aria-label={at.threadTs === undefined ? 'Write a message' : 'Write a reply'}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <SuggestionList id={`${fieldId}-offers`} offers={offers.shown} active={offers.active} onTake={take} />
      <textarea
        id={fieldId}
        ref={field}
        rows={1}
        aria-label={label}
        aria-autocomplete="list"
        aria-controls={`${fieldId}-offers`}
        aria-activedescendant={offers.shown.items.length > 0 ? `${fieldId}-offers-${offers.active}` : undefined}
        placeholder={closed ?? label}
        disabled={closed !== null}
        value={text}
        onInput={({ currentTarget }) => {
          write(currentTarget.value)
          offers.open()
        }}
        onBlur={offers.close}
        onKeyDown={(event) => onKey(event, { offers, take, text })}
      />
      <div class="composer-buttons">
        {at.threadTs === undefined && <SignButton sign="/" label="Commands" isOff={closed !== null} onBegin={begin} />}
        <SignButton sign="@" label="Mention somebody" isOff={closed !== null} onBegin={begin} />
        <button
          class="send"
          type="submit"
          aria-label="Send"
          title="Send"
          disabled={closed !== null || text.trim() === ''}
        >
          <SendIcon />
        </button>
      </div>
    </form>
  )
}

interface SignButtonProps {
  sign: string
  label: string
  isOff: boolean
  onBegin: (sign: string) => void
}

const SignButton = ({ sign, label, isOff, onBegin }: SignButtonProps) => (
  <button type="button" class="icon" aria-label={label} title={label} disabled={isOff} onClick={() => onBegin(sign)}>
    {sign === '/' ? <SlashIcon /> : <MentionIcon />}
  </button>
)

interface Offers {
  shown: Suggestions
  /** the index of the one that Enter takes */
  active: number
  move: (step: number) => void
  open: () => void
  close: () => void
}

const NOTHING: Suggestions = { from: 0, to: 0, items: [], hint: null }

function useSuggestions(text: string, field: { current: HTMLTextAreaElement | null }, inThread: boolean): Offers {
  const now = useNow()
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(0)
  useLayoutEffect(() => setActive(0), [text])
  const shown = isOpen ? suggest(text, field.current?.selectionStart ?? text.length, knownTo(now(), inThread)) : NOTHING
  return {
    shown,
    active: Math.min(active, Math.max(0, shown.items.length - 1)),
    move: (step) => setActive((active + step + shown.items.length) % shown.items.length),
    open: () => setOpen(true),
    close: () => setOpen(false),
  }
}

const knownTo = (state: State, inThread: boolean) => ({
  app: state.app,
  users: [...state.users.values()],
  userGroups: state.userGroups,
  channels: channelsOf(state),
  inThread,
})

function onKey(
  event: KeyboardEvent,
  { offers, take, text }: { offers: Offers; take: (one: Suggestion) => void; text: string },
): void {
  const { items, hint } = offers.shown
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const chosen = items[offers.active]
  if (event.key === 'Escape' && (items.length > 0 || hint)) {
    event.preventDefault()
    return offers.close()
  }
  if (step !== undefined && items.length > 0) {
    event.preventDefault()
    return offers.move(step)
  }
  const isWhole = items.some(({ insert }) => insert.trim() === text.trim())
  if (chosen && (event.key === 'Tab' || (event.key === 'Enter' && !isWhole))) {
    event.preventDefault()
    return take(chosen)
  }
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  if (event.target instanceof HTMLTextAreaElement) event.target.form?.requestSubmit()
}

function useWords({ channel: id, threadTs }: ComposerProps['at']): { label: string; closed: string | null } {
  const channel = useSlack((state) => state.channels.get(id))
  const realName = useSlack((state) => state.users.get(state.person)?.realName ?? '')
  const person = useSlack((state) => state.person)
  const isReadOnly = useSlack((state) => state.app.isReadOnly)
  const partner = useSlack(({ users }) => channel && partnerIn(channel, users, person))
  if (!channel) return { label: 'Message', closed: '' }
  const name = partner?.realName ?? `#${channel.name}`
  const label = threadTs === undefined ? `Message ${name} as ${realName}` : `Reply as ${realName}`
  return { label, closed: closedBecause(channel, { name, realName, person, isReadOnly }) }
}

function closedBecause(
  { kind, isArchived, members, hasBot }: Channel,
  { name, realName, person, isReadOnly }: { name: string; realName: string; person: string; isReadOnly: boolean },
): string | null {
  if (isArchived) return `${name} is archived`
  if (kind === 'im' && hasBot && isReadOnly) return 'Sending messages to this app is turned off'
  return members.includes(person) ? null : `${realName} is not in ${name}`
}
