import type { SubscriptionDeps } from './channel.ts'
import { replyTo, tooLittle, type AnswerDeps, type Command, type Question } from '../kit/command.ts'
import type { Reply } from '../kit/context.ts'
import type { ButtonHandler } from '../kit/feature.ts'
import { parseImport } from '../kit/values.ts'
import { importThese, proposeImport } from './import.ts'
import { answerImported, answerProposal } from './import-messages.ts'

type Deps = AnswerDeps & SubscriptionDeps

export const importList = (deps: Deps): Command => ({
  name: 'import',
  alias: null,
  group: 'Follow',
  usage: '<list>',
  does: "proposes the subscriptions that GitHub's Slack app lists",
  examples: ['/ci import acme/web', '/ci import acme/web - issues, workflows:{branch:"main"}'],
  who: 'members',
  notes: [
    'Type `/github subscribe list features` in the channel, and paste what it prints after `/ci import`.',
    'Nothing is subscribed until you press *Subscribe to these*.',
  ],
  handle: (question) => answerTyped(deps, question),
})

async function answerTyped(deps: Deps, { text, by, row, reference }: Question): Promise<Reply> {
  if (text.trim() === '') return tooLittle(row, "the list of GitHub's app")
  const outcome = await proposeImport(deps, text, by)
  return replyTo(outcome, answerProposal(outcome, { command: 'import', reference }))
}

/** Subscribes to exactly what the button's message names. */
export const importButton = (deps: Deps): ButtonHandler => ({
  what: 'import',
  replaces: true,
  describe: () => 'subscribe to these',
  async answer({ value, by, reference }) {
    const these = parseImport(value)
    if (!these) return null
    const outcome = await importThese(deps, these, by)
    return replyTo(outcome, answerImported(outcome, { command: 'import', reference }))
  },
})
