import { useMemo, useRef } from 'preact/hooks'
import { HashIcon, LockIcon, PeopleIcon } from '../look/icons.tsx'
import { Avatar } from '../slack/avatar.tsx'
import { partnerIn } from '../store/direct.ts'
import { isInChannel, messagesFor } from '../store/read.ts'
import type { Channel, Message } from '../store/wire.ts'
import { useSlack } from '../store/workspace.tsx'
import { AppTabs } from './app-tabs.tsx'
import { Composer } from './composer.tsx'
import { MessageList } from './message-list.tsx'

/** The open channel: its header, its messages and the composer. */
export function ChannelPane() {
  const isHidden = useSlack((state) => state.place.kind === 'home')
  const channel = useSlack(({ channels, place }) => channels.get(place.channel))
  if (!channel) return <main class="pane" hidden={isHidden} />
  return (
    <main class="pane" hidden={isHidden}>
      <Header channel={channel} />
      {channel.kind === 'im' && channel.hasBot && <AppTabs here="messages" />}
      <Conversation channel={channel} />
      <Composer at={{ channel: channel.id }} id="write" fieldId="composer" />
    </main>
  )
}

function Header({ channel }: { channel: Channel }) {
  const bot = useSlack((state) => state.bot.name)
  const partner = useSlack(({ users, person }) => partnerIn(channel, users, person))
  return (
    <header class="pane-header">
      {partner ? <Avatar user={partner} size="small" /> : <ChannelSign channel={channel} />}
      <h2 id="channel-name" tabIndex={-1}>
        {partner?.realName ?? channel.name}
      </h2>
      <p id="channel-about">
        {!partner && (
          <span class="members" title={`${channel.members.length} members`}>
            <PeopleIcon /> {channel.members.length}
            <span class="hidden"> members</span>
          </span>
        )}
        {channel.isShared && <span>shared with another workspace</span>}
        {channel.isArchived && <span>archived</span>}
        {!channel.hasBot && <span>without {bot}</span>}
        <code class="channel-id">{channel.id}</code>
      </p>
    </header>
  )
}

export const ChannelSign = ({ channel }: { channel: Channel }) =>
  channel.kind === 'public' ? <HashIcon /> : <LockIcon />

function Conversation({ channel }: { channel: Channel }) {
  const messages = useSlack((state) => state.messages)
  const person = useSlack((state) => state.person)
  const dismissed = useSlack((state) => state.dismissed)
  const newFrom = useSlack((state) => state.newFrom)
  const own = messages.get(channel.id)
  const all = useMemo(
    () => messagesFor({ messages, person, dismissed }, channel.id),
    [own, person, dismissed, channel.id],
  )
  const roots = useMemo(() => all.filter(isInChannel), [all])
  const threads = useThreads(all)
  return (
    <MessageList
      id="messages"
      label="Messages"
      messages={roots}
      threads={threads}
      newFrom={newFrom}
      place={`${channel.id} ${person}`}
      empty={<Beginning channel={channel} />}
    />
  )
}

function useThreads(all: readonly Message[]): ReadonlyMap<string, readonly Message[]> {
  const last = useRef<{ all: readonly Message[]; threads: ReadonlyMap<string, readonly Message[]> }>(undefined)
  if (last.current?.all !== all) {
    const replies = all.filter(({ root }) => root !== null)
    last.current = { all, threads: Map.groupBy(replies, ({ root }) => root ?? '') }
  }
  return last.current.threads
}

function Beginning({ channel }: { channel: Channel }) {
  const bot = useSlack((state) => state.bot.name)
  const partner = useSlack(({ users, person }) => partnerIn(channel, users, person))
  if (channel.kind === 'im' && channel.hasBot)
    return <p class="empty muted">Nothing yet. What {bot} has to say to you alone will stand here.</p>
  if (partner)
    return (
      <p class="empty muted">
        Nothing yet. What you and {partner.realName} write here no app hears; {bot} only of a command.
      </p>
    )
  return (
    <div class="empty">
      <p class="empty-title">This is the very beginning of #{channel.name}</p>
      <p class="muted">Nothing has been said here yet.{channel.hasBot ? ` Try /ci help, or mention @${bot}.` : ''}</p>
    </div>
  )
}
