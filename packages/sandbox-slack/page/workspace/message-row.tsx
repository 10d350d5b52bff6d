import { useMemo } from 'preact/hooks'
import { DotsIcon, ReplyIcon } from '../look/icons.tsx'
import { memo } from '../look/memo.tsx'
import { Avatar } from '../slack/avatar.tsx'
import { Menu } from '../slack/menu.tsx'
import { MessageView } from '../slack/message.tsx'
import { SceneProvider } from '../slack/scene.ts'
import type { Scene } from '../slack/scene.ts'
import { clock } from '../slack/when.ts'
import { callsFor } from '../store/read.ts'
import type { Message, User } from '../store/wire.ts'
import { useActs, useNow, useSlack } from '../store/workspace.tsx'

export interface MessageRowProps {
  message: Message
  author: User
  scene: Scene
  isContinued: boolean
  inThread: boolean
  replyCount: number
  hasThread: boolean
  lastReplyTs: string
  /** the ids of people who replied, separated by spaces */
  faces: string
  isThreadOpen: boolean
}

/** A message of the workspace, with the link to its thread and its buttons. */
export const MessageRow = memo(Row)

function Row(props: MessageRowProps) {
  const { message, author, scene, isContinued, inThread } = props
  const { dispatch } = useActs()
  const isPrivate = message.onlyFor !== undefined
  const isCalled = !isPrivate && callsFor(scene.person, message)
  const dismiss = useMemo(
    () => (isPrivate ? () => dispatch({ kind: 'dismissed', message }) : undefined),
    [isPrivate, message],
  )
  return (
    <SceneProvider value={scene}>
      <MessageView
        message={message}
        author={author}
        isContinued={isContinued}
        isCalled={isCalled}
        above={<BroadcastMark message={message} inThread={inThread} />}
        below={!inThread && message.root === null && props.hasThread && <ThreadLink {...props} />}
        actions={!isPrivate && !message.isTombstone && <Actions {...props} />}
        {...(dismiss ? { onDismiss: dismiss } : {})}
      />
    </SceneProvider>
  )
}

function BroadcastMark({ message, inThread }: { message: Message; inThread: boolean }) {
  const { go } = useActs()
  const { isBroadcast, root, channel } = message
  if (!isBroadcast || root === null) return null
  if (inThread) return <p class="muted small">↪ Also sent to the channel</p>
  return (
    <p class="muted small">
      ↪ replied to{' '}
      <button type="button" class="textlink" data-key="root" onClick={() => go(channel, root)}>
        a thread
      </button>
    </p>
  )
}

function ThreadLink({ message, replyCount, lastReplyTs, faces, isThreadOpen }: MessageRowProps) {
  const users = useSlack((state) => state.users)
  const { go } = useActs()
  return (
    <button
      type="button"
      class="thread-link"
      aria-expanded={isThreadOpen}
      aria-controls="thread"
      data-key="thread"
      onClick={() => go(message.channel, message.ts)}
    >
      {faces.split(' ').map((id) => {
        const user = users.get(id)
        return user && <Avatar key={id} user={user} size="tiny" />
      })}
      <b>{countOf(replyCount)}</b>
      <span class="muted">Last reply at {clock(lastReplyTs)}</span>
    </button>
  )
}

/** `1 reply`, `2 replies`. */
export const countOf = (count: number): string => `${count} ${count === 1 ? 'reply' : 'replies'}`

/** The buttons of a message: reply in thread, and the app's message shortcuts. */
function Actions({ message, author, inThread }: MessageRowProps) {
  const shortcuts = useSlack((state) => state.app.shortcuts)
  const appName = useSlack((state) => state.bot.name)
  const { go, perform } = useActs()
  const now = useNow()
  const canReply = !inThread && message.root === null
  const items = [
    ...(canReply ? [{ value: REPLY, words: 'Reply in thread' }] : []),
    ...shortcuts
      .filter(({ type }) => type === 'message')
      .map(({ name, callbackId }) => ({ value: callbackId, words: name, more: appName })),
  ]
  const choose = (chosen: string) => {
    if (chosen === REPLY) return go(message.channel, message.ts)
    const { person: user } = now()
    void perform({ kind: 'shortcut', user, channel: message.channel, ts: message.ts, callbackId: chosen })
  }
  return (
    <>
      {canReply && (
        <button
          type="button"
          class="icon"
          aria-label="Reply in thread"
          title="Reply in thread"
          data-key="reply"
          onClick={() => go(message.channel, message.ts)}
        >
          <ReplyIcon />
        </button>
      )}
      <Menu
        id="message-menu"
        label={`More actions for the message of ${author.realName}, ${clock(message.ts)}`}
        sign={<DotsIcon />}
        class="icon more"
        items={items}
        onChoose={choose}
        attributes={{ 'data-key': 'more' }}
      />
    </>
  )
}

const REPLY = 'reply'
