import { isChannelId } from '../../domain/ids.ts'
import { codeSpan, toLine } from '../../lib/escape.ts'
import { outside } from '../../slack/messages/build.ts'
import { PROJECT_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime } from '../../slack/messages/times.ts'

/** How names, addresses and times are shown. */
export interface Say {
  /** text from outside, as one line */
  outside(text: string): string
  /** text to type exactly as it is: a setting, a scope, an address */
  code(text: string): string
  channel(id: string): string
  /** a channel whose name Slack may not show, so with its id */
  lostChannel(id: string): string
  time(atMs: number): string
}

export const IN_SLACK: Say = {
  outside: (text) => outside(text, PROJECT_CHARS_MAX),
  code: codeSpan,
  channel: (id) => (isChannelId(id) ? `<#${id}>` : outside(id, PROJECT_CHARS_MAX)),
  lostChannel: (id) => `${IN_SLACK.channel(id)} (${codeSpan(id)})`,
  time: (atMs) => dayTime(atMs) ?? 'at an unknown time',
}

/** For a terminal and a log. */
export const IN_PLAIN_TEXT: Say = {
  outside: toLine,
  code: (text) => text,
  channel: (id) => `channel ${id}`,
  lostChannel: (id) => `channel ${id}`,
  time: (atMs) => new Date(atMs).toISOString(),
}
