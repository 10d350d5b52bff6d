import { isChannelId } from '../../domain/ids.ts'
import type { ChannelId } from '../../domain/ids.ts'

/** What Slack linked a text to. */
export interface Reference {
  /** http(s), as Slack sent it: not yet known to be safe */
  url?: string
  channelId?: ChannelId
  userId?: string
  groupId?: string
}

/** One typed character, or a whole reference: nothing in a reference's text parts words. */
export interface Letter {
  text: string
  reference: Reference | null
}

/**
 * A text as Slack sends it, letter by letter: `<…>` are references, `&amp;`, `&lt;` and `&gt;` what was typed; invisible
 * characters are gone. In time linear in the text.
 */
export const readLetters = (text: string): Letter[] =>
  [...withoutInvisible(text).matchAll(LETTER)].map(([typed, inner]) =>
    inner === undefined ? { text: decodeEntities(typed), reference: null } : readReference(inner),
  )

const LETTER = /<([^<>]*)>|&(?:amp|lt|gt);|[\s\S]/gu

// Names copied from a card bring the soft hyphens and isolates with which lib/escape made them harmless.
const INVISIBLE =
  /(?!\s)\p{Cc}|\p{Cs}|[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
// Between two letters of a script, or parts of an emoji, a joiner is part of the name; elsewhere it is a stowaway.
const STRAY_JOINER = /(?<![^\0-\x7f\u200c\u200d])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f\u200c\u200d])/gu

const withoutInvisible = (text: string): string => text.replace(INVISIBLE, '').replace(STRAY_JOINER, '')

const ENTITIES = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
])
const decodeEntities = (text: string): string =>
  text.replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES.get(entity) ?? '')

function readReference(inner: string): Letter {
  const [address = '', ...labels] = inner.split('|')
  const target = decodeEntities(address).trim()
  const label = decodeEntities(labels.join('|')).trim()
  const id = target.slice(1)
  switch (target.charAt(0)) {
    case '#':
      return { text: named('#', label || id), reference: isChannelId(id) ? { channelId: id } : null }
    case '@':
      return { text: named('@', label || id), reference: USER_ID.test(id) ? { userId: id } : null }
    case '!':
      return readSpecial(id, label)
    default:
      return readLink(target, label)
  }
}

const USER_ID = /^[UW][A-Z0-9]{2,20}$/
const GROUP_ID = /^S[A-Z0-9]{2,20}$/

const named = (sigil: string, name: string): string => (name.startsWith(sigil) ? name : sigil + name)

// `!subteam^S123`, `!here`, `!date^1700000000^…`
function readSpecial(what: string, label: string): Letter {
  const [kind = '', value = ''] = what.split('^')
  if (kind === 'date') return { text: label, reference: null }
  const isGroup = kind === 'subteam' && GROUP_ID.test(value)
  return { text: named('@', label || value || kind), reference: isGroup ? { groupId: value } : null }
}

// What looks like an address is linked by Slack on its own: `<http://acme.web|acme.web>`. The label is what was typed.
const readLink = (target: string, label: string): Letter => ({
  text: label || target.replace(/^(?:mailto|tel):/i, ''),
  reference: /^https?:\/\//i.test(target) && URL.canParse(target) ? { url: target } : null,
})
