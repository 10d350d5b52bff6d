import type { Answer } from '../../src/slack/messages/answer.ts'
import type { CommandRow } from '../../src/features/kit/command.ts'
import { CAST, type Cast } from '../../packages/demo/src/samples/cast.ts'
import type { Button } from '../../src/slack/messages/blocks.ts'

/** Two commands. The real table is tested elsewhere. */
export const ROWS: readonly CommandRow[] = [
  {
    name: 'list',
    alias: '/ci-list',
    group: 'Look',
    usage: '[text] [basic|pro] [page]',
    does: 'shows the projects with their last known state',
    examples: ['/ci list', '/ci list acme pro 2'],
    who: 'everyone',
  },
  {
    name: 'stop',
    alias: null,
    group: 'Act',
    usage: '',
    does: 'stops a running build',
    examples: [],
    who: 'operators',
  },
]

const HOSTILE_TEXT =
  '<!channel> <@U1> <#C1> *x* _x_ ~x~ `x` ```x``` :tada: &amp; <https://evil.example|ok> https://evil.example\n> x'

const with_ = (text: (name: string) => string): Cast => ({
  ...CAST,
  project: text('project'),
  other: text('other'),
  branch: text('branch'),
  message: text('message'),
  committer: text('committer'),
  typed: text('typed'),
  number: text('number'),
  word: text('word'),
  badge: text('badge'),
  reason: text('reason'),
  user: text('user'),
  group: text('group'),
  code: text('code'),
})

/** Texts from outside with markup, mentions and links. */
export const HOSTILE: Cast = { ...with_(() => HOSTILE_TEXT), buildUrl: 'javascript:alert(1)' }
/** Right-to-left text, direction marks, a lone surrogate and a control character. */
export const ODD: Cast = with_((name) => `שלום \u202e${name}\u0007 \ud800 機能 👩‍💻`)
/** Texts of 10,000 characters, and an address that is too long for a link. */
export const LONG: Cast = {
  ...with_((name) => `${name}&<`.repeat(2_000)),
  buildUrl: `https://ci.example/${'b'.repeat(10_000)}`,
}
/** Empty texts, and nothing to link to. */
export const EMPTY: Cast = { ...with_(() => ''), buildUrl: '' }

export const ALL_CASTS: readonly [name: string, cast: Cast][] = [
  ['as usual', CAST],
  ['hostile', HOSTILE],
  ['right to left', ODD],
  ['long', LONG],
  ['empty', EMPTY],
]

export const buttonsOf = ({ blocks }: Answer): Button[] =>
  blocks.flatMap((block): Button[] => {
    if (block.type === 'actions') return block.elements
    return block.type === 'section' && block.accessory ? [block.accessory] : []
  })

/** Every text in the blocks, markup or plain. */
export const shownTexts = ({ blocks }: Answer): string[] =>
  blocks.flatMap((block) => {
    if (block.type === 'section') return [block.text.text]
    return block.type === 'context' ? block.elements.map(({ text }) => text) : []
  })

/** The lines of an answer's text. */
export const linesOf = ({ text }: Answer): string[] => text.split('\n')

export function valueOf(button: Button | undefined): string {
  if (!button || !('value' in button)) throw new Error('no button with a value')
  return button.value
}
