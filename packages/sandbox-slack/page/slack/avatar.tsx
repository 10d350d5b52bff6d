import type { User } from '../store/wire.ts'
import './avatar.css'

/** A person's first letter in a colour made from their id, or the app's sign. */
export function Avatar({
  user,
  size = 'full',
}: {
  user: Pick<User, 'id' | 'realName' | 'role'>
  size?: 'full' | 'small' | 'tiny'
}) {
  const look = user.role === 'bot' ? 'bot' : `tint-${tintOf(user.id)}`
  return (
    <span class={`avatar ${look} ${size}`} aria-hidden="true">
      {user.role === 'bot' ? '⚙' : user.realName.slice(0, 1)}
    </span>
  )
}

const TINTS = 5
const tintOf = (text: string): number =>
  Array.from(text).reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % TINTS
