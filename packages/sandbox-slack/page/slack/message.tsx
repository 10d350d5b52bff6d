import type { ComponentChildren } from 'preact'
import { EyeIcon } from '../look/icons.tsx'
import type { Attachment, FileInMessage, Message, Said, User } from '../store/wire.ts'
import { Avatar } from './avatar.tsx'
import { Blocks } from './blocks.tsx'
import { Picture } from './picture.tsx'
import { Mrkdwn } from './text.tsx'
import { clock, dateOf } from './when.ts'
import './message.css'

export interface MessageProps {
  message: Message
  author: User
  /** it follows a message of the same person, so it has no name and no picture */
  isContinued?: boolean
  /** it mentions the acting person */
  isCalled?: boolean
  /** drawn above the content, such as a note that a reply was also sent to the channel */
  above?: ComponentChildren
  /** drawn below the content, such as the link to the thread */
  below?: ComponentChildren
  /** buttons, shown when the pointer is on the message */
  actions?: ComponentChildren
  /** dismisses a message that only one person sees */
  onDismiss?: () => void
}

/** A message: author, time and content. */
export function MessageView(props: MessageProps) {
  const { message, author, isContinued = false, isCalled = false, above, below, actions, onDismiss } = props
  const when = clock(message.ts)
  const look = [
    'message',
    isContinued && 'continued',
    message.onlyFor !== undefined && 'ephemeral',
    isCalled && 'calling',
  ]
  return (
    <article
      class={look.filter(Boolean).join(' ')}
      tabIndex={-1}
      data-ts={message.ts}
      aria-label={`${author.realName}, ${when}`}
    >
      <div class="gutter">{isContinued ? <span class="when quiet">{when}</span> : <Avatar user={author} />}</div>
      <div class="content">
        {message.onlyFor !== undefined && <OnlyYou onDismiss={onDismiss} />}
        {!isContinued && <Byline author={author} ts={message.ts} />}
        {above}
        {message.isTombstone ? (
          <p class="muted">🗑 This message was deleted.</p>
        ) : (
          <MessageBody said={message} editCount={message.editCount} />
        )}
        <Reactions given={message.reactions ?? []} />
        {below}
      </div>
      {actions && <div class="message-actions">{actions}</div>}
    </article>
  )
}

function OnlyYou({ onDismiss }: { onDismiss: (() => void) | undefined }) {
  return (
    <p class="only-you muted small">
      <EyeIcon /> Only visible to you
      {onDismiss && (
        <>
          {' · '}
          <button type="button" class="textlink" data-key="dismiss" onClick={onDismiss}>
            Dismiss
          </button>
        </>
      )}
    </p>
  )
}

function Byline({ author, ts }: { author: User; ts: string }) {
  const at = dateOf(ts)
  return (
    <p class="byline">
      <b>{author.realName}</b>
      {author.role === 'bot' && <span class="badge">APP</span>}
      <time class="when" dateTime={at.toISOString()} title={at.toLocaleString()}>
        {clock(ts)}
      </time>
    </p>
  )
}

/** The content of a message. As in Slack, its text is not shown if it has blocks. */
export function MessageBody({ said, editCount = 0 }: { said: Said; editCount?: number }) {
  const { text = '', blocks = [], attachments = [], files = [] } = said
  const showsText = blocks.length === 0 && text !== ''
  const edited = editCount > 0 && (
    <span class="muted edited" title={`edited ${editCount} times`}>
      {' '}
      (edited)
    </span>
  )
  return (
    <div class="body">
      {showsText && (
        <div class="text">
          <Mrkdwn text={text} />
          {edited}
        </div>
      )}
      <Blocks blocks={blocks} />
      {attachments.map((one, index) => (
        <AttachmentView key={index} attachment={one} />
      ))}
      {files.map((file) => (
        <FileView key={file.url_private} file={file} />
      ))}
      {!showsText && edited}
    </div>
  )
}

const NAMED_COLORS: Record<string, string> = { good: '#2eb67d', warning: '#ecb22e', danger: '#e01e5a' }

function colorOf({ color = '' }: Attachment): string | null {
  if (Object.hasOwn(NAMED_COLORS, color)) return NAMED_COLORS[color] ?? null
  return /^#?[0-9a-f]{3,6}$/i.test(color) ? `#${color.replace('#', '')}` : null
}

function AttachmentView({ attachment }: { attachment: Attachment }) {
  const { pretext, title, text, blocks = [], footer } = attachment
  const color = colorOf(attachment)
  return (
    <div class="attachment" style={color === null ? {} : { '--bar': color }}>
      {pretext && (
        <div class="text">
          <Mrkdwn text={pretext} />
        </div>
      )}
      {title && <b>{title}</b>}
      {text && (
        <div class="text">
          <Mrkdwn text={text} />
        </div>
      )}
      <Blocks blocks={blocks} />
      {footer && <div class="muted small">{footer}</div>}
    </div>
  )
}

/** Shows a picture. Any other file is a link. */
function FileView({ file: { mimetype, name, title, url_private: url, alt_txt: alt } }: { file: FileInMessage }) {
  if (!mimetype.startsWith('image/'))
    return (
      <figure class="block image file">
        <a href={url}>{title}</a>
      </figure>
    )
  return (
    <figure class="block image file">
      <figcaption class="muted small">{name}</figcaption>
      <Picture image_url={url} alt_text={alt ?? title} />
    </figure>
  )
}

function Reactions({ given }: { given: NonNullable<Said['reactions']> }) {
  if (given.length === 0) return null
  return (
    <p class="reactions">
      {given.map(({ name, count }) => (
        <span key={name}>
          <Mrkdwn text={`:${name}:`} /> {count}
        </span>
      ))}
    </p>
  )
}
