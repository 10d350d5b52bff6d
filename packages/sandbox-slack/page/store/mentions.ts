import type { State } from './state.ts'

/** A name that people can type after `@` or `#`, and its form in Slack. */
export interface Mention {
  /** as typed, such as `@Grace` */
  typed: string
  /** as in a message, such as `<@U0GRACE001>` */
  told: string
  /** as in the text of a command, such as `<@U0GRACE001|grace>` */
  inCommand: string
}

/** The people, groups and channels that can be mentioned. The bot's own name is sent as typed. */
export const mentionsOf = (state: Pick<State, 'users' | 'userGroups' | 'channels'>): Mention[] => [
  ...[...state.users.values()]
    .filter(({ role, isDeactivated }) => role !== 'bot' && !isDeactivated)
    .map(({ id, name, realName }) => ({ typed: `@${realName}`, told: `<@${id}>`, inCommand: `<@${id}|${name}>` })),
  ...state.userGroups.map(({ id, handle }) => sameInBoth(`@${handle}`, `<!subteam^${id}|@${handle}>`)),
  ...[...state.channels.values()]
    .filter(({ kind }) => kind === 'public' || kind === 'private')
    .map(({ id, name }) => sameInBoth(`#${name}`, `<#${id}|${name}>`)),
  ...['channel', 'here'].map((name) => sameInBoth(`@${name}`, `<!${name}>`)),
]

const sameInBoth = (typed: string, told: string): Mention => ({ typed, told, inCommand: told })

/** Replaces every known name that is a word of its own. Ignores the case. */
export function withMentions(text: string, mentions: readonly Mention[], as: 'told' | 'inCommand'): string {
  const byName = new Map(mentions.map((one) => [one.typed.toLowerCase(), one[as]]))
  return text.replaceAll(/(?<=^|[\s(])[@#][\w-]+/g, (name) => byName.get(name.toLowerCase()) ?? name)
}
