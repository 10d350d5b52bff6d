import { type SubscriptionDeps, channelRules } from './channel.ts'
import type { ChannelId } from '../../domain/ids.ts'
import { COMMAND_CHARS_MAX } from '../../slack/commands/parse.ts'
import { formChannel, requesterIn } from '../kit/body.ts'
import { replyTo, tooLittle, type AnswerDeps, type Command, type Question } from '../kit/command.ts'
import type { Reply, SlackDeps } from '../kit/context.ts'
import type { ButtonHandler } from '../kit/feature.ts'
import { textField, typedIn } from '../kit/fields.ts'
import {
  formView,
  oldForm,
  openFor,
  opening,
  refusing,
  respondInModal,
  showing,
  waitingView,
  type Form,
  type ModalView,
} from '../kit/modal.ts'
import { parseImport } from '../kit/values.ts'
import { readGithubList } from './github-list.ts'
import { importThese, proposeImport } from './import.ts'
import { answerImported, answerProposal, NOTHING_LISTED_PLAIN } from './import-messages.ts'

type Deps = AnswerDeps & SubscriptionDeps

export const importList = (deps: Deps): Command => ({
  name: 'import',
  alias: null,
  group: 'Follow',
  usage: '[list]',
  does: "proposes the subscriptions that GitHub's Slack app lists; alone, it opens a form",
  examples: ['/ci import', '/ci import acme/web', '/ci import acme/web - issues, workflows:{branch:"main"}'],
  who: 'members',
  notes: [
    'Type `/github subscribe list features` in the channel, and paste what it prints after `/ci import` or into its form.',
    'Nothing is subscribed until you press *Subscribe to these*.',
  ],
  handle: (question) => answerTyped(deps, question),
})

function answerTyped(deps: Deps, question: Question): Promise<Reply> {
  return question.text.trim() === '' ? openForm(deps, question) : proposalReply(deps, question)
}

async function openForm(deps: Deps, { modalOpener, by, row, reference }: Question): Promise<Reply> {
  if (!modalOpener) return tooLittle(row, "the list of GitHub's app", row.examples[1])
  const here = await channelRules(deps, by.channel)
  if (here.kind === 'no-channel')
    return { outcome: here.kind, answer: answerProposal(here, { command: 'import', reference }) }
  const may = () => deps.permits('subscribe', by)
  return opening(reference, () =>
    openFor(modalOpener, importView(here.channel), may, { action: 'subscribe', reference }),
  )
}

async function proposalReply(
  deps: Deps,
  { text, by, reference }: Pick<Question, 'text' | 'by' | 'reference'>,
): Promise<Reply> {
  const outcome = await proposeImport(deps, text, by)
  return replyTo(outcome, answerProposal(outcome, { command: 'import', reference }))
}

export const IMPORT_CALLBACK_ID = 'import'
const TITLE = 'Import subscriptions'
/** The id of the only field, and of its block. */
const LIST = 'import_list'

export const importView = (channel: ChannelId): ModalView =>
  formView({
    id: IMPORT_CALLBACK_ID,
    title: TITLE,
    submit: 'Next',
    metadata: JSON.stringify({ channel }),
    blocks: [
      textField(
        {
          block: LIST,
          label: "The list of GitHub's app",
          hint: 'Type /github subscribe list features in the channel, and paste here what it prints. Nothing is subscribed yet.',
        },
        { isLong: true, placeholder: 'acme/web - issues, workflows:{branch:"main"}' },
      ),
    ],
  })

export const importPendingView = waitingView(TITLE, 'Reading the list …')

/** The form for a pasted list. Text without a repository is refused at its field, where it can still be changed. */
export const importForm = (deps: Deps): Form => ({
  what: 'import',
  receive(body) {
    const channel = formChannel(body)
    if (channel === null) return oldForm(TITLE)
    const text = typedIn(body, LIST)
    if (text.length <= COMMAND_CHARS_MAX && readGithubList(text).repositories.length === 0)
      return refusing({ [LIST]: NOTHING_LISTED_PLAIN })
    return { ack: showing('update', importPendingView), work: (slack) => propose(deps, slack, body, { channel, text }) }
  },
})

function propose(deps: Deps, slack: SlackDeps, body: unknown, { channel, text }: { channel: ChannelId; text: string }) {
  const by = requesterIn(body, channel)
  return respondInModal(slack, body, { what: 'import', title: TITLE, by }, (reference) =>
    proposalReply(deps, { text, by, reference }),
  )
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
