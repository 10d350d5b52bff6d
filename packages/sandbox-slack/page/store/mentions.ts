import type { State } from './state.ts'

/** A name that can be written with `@` or `#` before it, and what Slack makes of it. */
export interface Mention {
  /** as it is typed, such as `@Grace` */
  typed: string
  /** as a message tells it, such as `<@U0GRACE001>` */
  told: string
  /** as a command does, such as `<@U0GRACE001|grace>` */
  inCommand: string
}

/** The people, groups and channels that typed words can mean. The bot's own name is told as it is typed. */
export const mentionsOf = (state: Pick<State, 'users' | 'userGroups' | 'channels'>): Mention[] => [
  ...[...state.users.values()]
    .filter(({ role, isDeactivated }) => role !== 'bot' && !isDeactivated)
    .map(({ id, name, realName }) => ({ typed: `@${realName}`, told: `<@${id}>`, inCommand: `<@${id}|${name}>` })),
  ...state.userGroups.map(({ id, handle }) => sameInBoth(`@${handle}`, `<!subteam^${id}|@${handle}>`)),
  ...[...state.channels.values()]
    .filter(({ kind }) => kind !== 'im')
    .map(({ id, name }) => sameInBoth(`#${name}`, `<#${id}|${name}>`)),
  ...['channel', 'here'].map((name) => sameInBoth(`@${name}`, `<!${name}>`)),
]

const sameInBoth = (typed: string, told: string): Mention => ({ typed, told, inCommand: told })

/** The text with every name that stands alone replaced by what it means, in any case. */
export function withMentions(text: string, mentions: readonly Mention[], as: 'told' | 'inCommand'): string {
  const byName = new Map(mentions.map((one) => [one.typed.toLowerCase(), one[as]]))
  return text.replaceAll(/(?<=^|[\s(])[@#][\w-]+/g, (name) => byName.get(name.toLowerCase()) ?? name)
}
