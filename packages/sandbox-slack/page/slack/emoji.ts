import { nameToEmoji } from 'gemoji'

/** Emoji for which Slack has its own names. */
const SLACK_NAMES: Record<string, string> = {
  black_square_for_stop: '⏹️',
  octagonal_sign: '🛑',
  double_vertical_bar: '⏸️',
  large_green_circle: '🟢',
  large_yellow_circle: '🟡',
  large_orange_circle: '🟠',
  large_red_square: '🟥',
  large_green_square: '🟩',
  robot_face: '🤖',
  radio_button: '🔘',
}

/** The emoji of this name; null if there is none. */
export function emojiNamed(name: string): string | null {
  if (Object.hasOwn(SLACK_NAMES, name)) return SLACK_NAMES[name] ?? null
  return Object.hasOwn(nameToEmoji, name) ? (nameToEmoji[name] ?? null) : null
}
