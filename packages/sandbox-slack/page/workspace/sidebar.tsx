import { useLayoutEffect, useRef } from 'preact/hooks'
import { BoltIcon, HashIcon, LockIcon } from '../look/icons.tsx'
import { Avatar } from '../slack/avatar.tsx'
import { directOf } from '../store/direct.ts'
import { actorsOf, channelsOf } from '../store/state.ts'
import type { State } from '../store/state.ts'
import { unreadIn } from '../store/read.ts'
import type { Channel, User } from '../store/wire.ts'
import { useActs, useSlack } from '../store/workspace.tsx'

/** The list of channels, people and apps, with what is unread. Up and down move between the lines. */
export function Sidebar() {
  const channels = useSlack((state) => state.channels)
  const users = useSlack((state) => state.users)
  const person = useSlack((state) => state.person)
  const hasGallery = useSlack((state) => state.hasGallery)
  const box = useRef<HTMLElement>(null)
  useMenu(box)
  const shown = channelsOf({ channels, users, person }).filter(({ kind }) => kind !== 'im')
  return (
    <nav id="sidebar" ref={box} class="sidebar" aria-label="Channels" onKeyDown={moveByKey}>
      <Shortcuts />
      <h2>Channels</h2>
      <ul id="channels">
        {shown.map((channel) => (
          <li key={channel.id}>
            <ChannelLink channel={channel} isMember={channel.members.includes(person)} />
          </li>
        ))}
      </ul>
      <h2>Direct messages</h2>
      <ul id="people">
        {actorsOf({ users })
          .filter(({ id }) => id !== person)
          .map((user) => (
            <li key={user.id}>
              <PersonLink user={user} />
            </li>
          ))}
      </ul>
      <h2>Apps</h2>
      <ul id="directs">
        <li>
          <AppLink />
        </li>
      </ul>
      {hasGallery && (
        <p class="sidebar-note">
          <a href="/gallery/">Gallery: everything it can say</a>
        </p>
      )}
      {users.get(person)?.role === 'guest' && (
        <p class="sidebar-note">As a guest {users.get(person)?.realName} sees only channels they were invited to.</p>
      )}
    </nav>
  )
}

/** On a small screen, the sidebar opens over the page. Escape and a tap beside it close it. */
function useMenu(box: { current: HTMLElement | null }): void {
  const isOpen = useSlack((state) => state.isMenuOpen)
  const { dispatch } = useActs()
  // A layout effect, not an effect: on a busy machine, a tap may come before an effect runs.
  useLayoutEffect(() => {
    if (!isOpen) return
    box.current?.querySelector<HTMLElement>('[aria-current], a')?.focus()
    const close = () => dispatch({ kind: 'menu', isOpen: false })
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      close()
      document.querySelector<HTMLElement>('#menu')?.focus()
    }
    const onTap = ({ target }: Event) => {
      const isElsewhere = target instanceof Element && !target.closest('#sidebar, #menu')
      if (isElsewhere) close()
    }
    document.addEventListener('keydown', onKey)
    document.addEventListener('pointerdown', onTap)
    return () => {
      document.removeEventListener('keydown', onKey)
      document.removeEventListener('pointerdown', onTap)
    }
  }, [isOpen])
}

function Shortcuts() {
  const shortcuts = useSlack((state) => state.app.shortcuts)
  const person = useSlack((state) => state.person)
  const { perform, dispatch } = useActs()
  return (
    <ul>
      {shortcuts
        .filter(({ type }) => type === 'global')
        .map(({ name, callbackId }) => (
          <li key={callbackId}>
            <button
              type="button"
              value={callbackId}
              onClick={() => {
                dispatch({ kind: 'menu', isOpen: false })
                void perform({ kind: 'global-shortcut', user: person, callbackId })
              }}
            >
              <BoltIcon /> {name}
            </button>
          </li>
        ))}
    </ul>
  )
}

function ChannelLink({ channel, isMember }: { channel: Channel; isMember: boolean }) {
  const { id, kind, name, isArchived, hasBot } = channel
  const isHere = useSlack(({ place }) => place.kind === 'channel' && place.channel === id)
  const isQuiet = isArchived || !hasBot || !isMember
  return (
    <SidebarLink place={id} isHere={isHere} isQuiet={isQuiet} channel={id}>
      {kind === 'public' ? <HashIcon /> : <LockIcon />}
      <span class="sidebar-name">
        <span class="hidden">{SPOKEN[kind]}</span>
        {name}
      </span>
    </SidebarLink>
  )
}

const SPOKEN = { public: '#', private: 'private channel ', mpim: 'group message ', im: '' }

/** Links to the direct channel with a person. If it does not exist yet, a click opens it. */
function PersonLink({ user }: { user: User }) {
  const person = useSlack((state) => state.person)
  const direct = useSlack(({ channels }) => directOf(channels, [person, user.id]))
  const isHere = useSlack(({ place }) => place.kind === 'channel' && place.channel === direct)
  const { perform, dispatch, go } = useActs()
  const open = async () => {
    dispatch({ kind: 'menu', isOpen: false })
    const { channel } = (await perform({ kind: 'open-direct', user: person, with: user.id })).outcome
    if (!channel) return
    dispatch({ kind: 'changed', change: { kind: 'channel', channel }, isInSight: true })
    go(channel.id)
  }
  const shown = (
    <>
      <Avatar user={user} size="tiny" />
      <span class="sidebar-name">{user.realName}</span>
    </>
  )
  if (direct === null)
    return (
      <button type="button" onClick={() => void open()}>
        {shown}
      </button>
    )
  return (
    <SidebarLink place={direct} isHere={isHere} channel={direct}>
      {shown}
    </SidebarLink>
  )
}

function AppLink() {
  const bot = useSlack((state) => state.bot)
  const direct = useSlack(({ channels, person, bot: app }) => directOf(channels, [person, app.userId]))
  const isHere = useSlack(({ place }) => place.kind === 'home' || place.channel === direct)
  return (
    <SidebarLink id="home-link" place="home" isHere={isHere} channel={direct ?? ''}>
      <Avatar user={{ id: bot.userId, realName: bot.name, role: 'bot' }} size="tiny" />
      <span class="sidebar-name">{bot.name}</span>
    </SidebarLink>
  )
}

interface SidebarLinkProps {
  id?: string
  place: string
  channel: string
  isHere: boolean
  isQuiet?: boolean
  children: preact.ComponentChildren
}

function SidebarLink({ id, place, channel, isHere, isQuiet = false, children }: SidebarLinkProps) {
  const isUnread = useSlack(isUnreadIn(channel))
  const mentions = useSlack((state) => unreadIn(state, channel).mentions)
  const { dispatch } = useActs()
  return (
    <a
      id={id}
      href={`#${place}`}
      class={[isUnread && 'unread', isQuiet && 'quiet'].filter(Boolean).join(' ')}
      aria-current={isHere ? 'page' : undefined}
      onClick={() => dispatch({ kind: 'menu', isOpen: false })}
    >
      {children}
      {isUnread && <span class="hidden">, unread</span>}
      {mentions > 0 && (
        <span class="mentions">
          {mentions}
          <span class="hidden"> {mentions === 1 ? 'mention' : 'mentions'}</span>
        </span>
      )}
    </a>
  )
}

const isUnreadIn = (channel: string) => (state: State) => unreadIn(state, channel).isUnread

function moveByKey(event: preact.TargetedKeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('a, button')]
  const next = stops[stops.findIndex((stop) => stop === document.activeElement) + step]
  event.preventDefault()
  next?.focus()
}
