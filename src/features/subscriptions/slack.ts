import {
  type SubscriptionDeps,
  channelRules,
  announceClosings,
  channelMoved,
  channelOpened,
  type ClosingDeps,
} from './channel.ts'
import { CHECKS } from './checks.ts'
import { digest } from './digest-command.ts'
import { answerDryRun } from './dry-run-messages.ts'
import { answerRules } from './rules-messages.ts'
import type { Reply, SlackDeps } from '../kit/context.ts'
import {
  nameless,
  replyTo,
  tooLittle,
  tooMuch,
  usageOf,
  whenMayRead,
  wordsOf,
  type AnswerDeps,
  type Interaction,
  type Command,
  type Question,
} from '../kit/command.ts'
import { CUT, partAt, type Word } from '../../slack/commands/parse.ts'
import { answerMisread, answerUnsubscribe } from './messages.ts'
import { SUBSCRIPTION_ACTION_IDS } from '../../slack/messages/ids.ts'
import { openSubscribe, projectsToFollow, redraw, subscribeForm, subscribeReply } from './form.ts'
import type { ButtonHandler, Click, Feature } from '../kit/feature.ts'
import { SUBSCRIBE_CALLBACK_ID, SUBSCRIBE_FIELDS } from './form-view.ts'
import { importButton, importList } from './import-command.ts'
import { readSubscribe } from './subscribe-input.ts'
import { DIGESTS_JOB, sendDigests, type DigestDeps, type SendDigests } from './digest.ts'
import { dryRun, type DryRunQuery } from './dry-run.ts'
import { subscribe, unsubscribe, type UnsubscribeWish } from './subscribe.ts'
import { projectsAs } from '../../projects/projects.ts'
import type { Reads } from '../../store/store.ts'
import { isChannelId, type ChannelId } from '../../domain/ids.ts'
import { listAt, textAt } from '../kit/body.ts'

type Deps = AnswerDeps & SubscriptionDeps & DigestDeps & ClosingDeps & SendDigests

export const subscriptions = (deps: Deps): Feature => ({
  commands: [rules(deps), subscribeCommand(deps), unsubscribeCommand(deps), digest(deps), importList(deps)],
  buttons: {
    [SUBSCRIPTION_ACTION_IDS.add]: ofRules((click) => open(deps, click, null)),
    [SUBSCRIPTION_ACTION_IDS.change]: ofRules(async (click) =>
      ID.test(click.value) ? open(deps, click, click.value) : null,
    ),
    [SUBSCRIPTION_ACTION_IDS.remove]: ofRules(
      (click) => remove(deps, click),
      () => 'unsubscribe',
    ),
    [SUBSCRIPTION_ACTION_IDS.import]: importButton(deps),
  },
  fields: { [SUBSCRIBE_FIELDS.how]: redraw },
  menus: { [SUBSCRIBE_FIELDS.project]: (text) => projectsToFollow(deps, text) },
  forms: { [SUBSCRIBE_CALLBACK_ID]: subscribeForm(deps) },
  events: {
    channel_id_changed: (slack, body) => handleChannelMove(deps, slack, body),
    member_joined_channel: (slack, body) => handleInvitation(deps, slack, body),
  },
  checks: CHECKS,
  jobs: [
    { name: 'tell-closings', cron: '*/15 * * * * *', afterNews: true, run: () => announceClosings(deps) },
    { name: DIGESTS_JOB, cron: '*/15 * * * * *', run: (signal) => sendDigests(deps, signal) },
  ],
})

const rules = (deps: Deps): Command => ({
  name: 'rules',
  alias: null,
  group: 'Follow',
  usage: '[test project branch [event]]',
  does: "shows this channel's subscriptions; with test, which channels would get a build",
  examples: ['/ci rules', '/ci rules test acme/web main', '/ci rules test acme/web main failed'],
  who: 'everyone',
  notes: ['*Change* opens a subscription in a form, *Remove* ends it. A test builds and posts nothing.'],
  handle: (question) => answerRulesTyped(deps, question),
  choose: (question, choice) =>
    answerRulesTyped(deps, { ...question, words: [{ text: TEST_WORD }, ...wordsOf(choice)] }),
})

/** `/ci rules`, `/ci rules test acme/web main failed`. */
async function answerRulesTyped(deps: Deps, question: Question): Promise<Reply> {
  const [first, ...others] = question.words
  if (first?.text.toLowerCase() === TEST_WORD) return tryRules(deps, question, others)
  if (first) return tooMuch(question.row, first.text)
  return whenMayRead(deps, question, async () => {
    const outcome = await channelRules(deps, question.by.channel)
    return replyTo(outcome, answerRules(outcome))
  })
}

const TEST_WORD = 'test'

const TEST_ROW = {
  name: 'rules',
  usage: 'test project branch [event]',
  examples: ['/ci rules test acme/web main failed'],
}

async function tryRules(deps: Deps, question: Question, words: readonly Word[]): Promise<Reply> {
  const reading = readTry(words)
  if ('outcome' in reading) return reading
  const { by, reference } = question
  return whenMayRead(deps, question, async () => {
    const outcome = await dryRun(deps, reading, by)
    const rest = [reading.branch, ...(reading.event === null ? [] : [reading.event])]
    return replyTo(outcome, answerDryRun(outcome, { command: 'rules', rest, reference }))
  })
}

/** `acme/web main failed`, or `acme/web@main failed` */
function readTry(words: readonly Word[]): DryRunQuery | Reply {
  if (words.includes(CUT)) return tooMuch(TEST_ROW, CUT.text)
  const [first, ...others] = words.map(({ text }) => text)
  if (first === undefined) return tooLittle(TEST_ROW, 'a project and a branch')
  const [project, joined] = partAt(first)
  const [branch, event, extra] =
    joined === null ? [others[0]?.replace(/^@/, ''), ...others.slice(1)] : [joined, ...others]
  if (project === '') return nameless(TEST_ROW, null)
  if (branch === undefined) return tooLittle(TEST_ROW, 'a branch after the project')
  if (branch === '') return nameless(TEST_ROW, project)
  if (extra !== undefined) return tooMuch(TEST_ROW, extra)
  return { project, branch, event: event || null }
}

const subscribeCommand = (deps: Deps): Command => ({
  name: 'subscribe',
  alias: null,
  group: 'Follow',
  usage:
    '[project|all] [events] [branch pattern] [quiet] [mention|no-mention] [details none|names|lines] [remind 2h [hours] [days] [time zone]]',
  does: 'subscribes this channel to a project; alone, it opens a form',
  examples: [
    '/ci subscribe',
    '/ci subscribe acme/web',
    '/ci subscribe acme/web CI failed',
    '/ci subscribe acme/web changes release/*',
    '/ci subscribe all failed quiet no-mention',
    '/ci subscribe acme/web changes main remind 2h',
  ],
  who: 'members',
  notes: [
    'A GitHub repository stands for all its workflows, including later ones; add the name of a workflow for that one only.',
    'Events: `changes` (a branch breaks or is fixed), `started`, `failed`, `broken`, `passed`, `fixed`, `waiting`, `stopped`; `all` or `everything`.',
    "Without events, the channel gets what the project's notification rules in CI say; for GitHub and GitLab, failed and recovered on the default branch.",
    'Branches: `release/*` is a pattern, `^v[0-9]+$` a regular expression, `@started` the branch with that name, `@*fix*` a pattern with stars at both ends.',
    '`quiet` keeps replies in their threads; `no-mention` mentions nobody.',
    '`details names` shows which jobs and tests failed without their messages, `details none` shows nothing about the failure.',
    '`remind 2h` (30m to 7d) reminds the channel of a branch that has been red that long and that nobody is on, 9-18 on weekdays in your time zone. Other hours: `remind 2h 8-20 daily Europe/Berlin`.',
  ],
  handle: (question) => answerSubscribeTyped(deps, question),
  choose: (question, choice) => answerSubscribeTyped(deps, { ...question, words: wordsOf(choice) }),
})

/** `/ci subscribe acme/web failed release/*`; alone it opens the form. */
async function answerSubscribeTyped(deps: Deps, question: Question): Promise<Reply> {
  const { by, row, modalOpener, reference } = question
  const reading = readSubscribe(await withProjectName(deps.store.read, question.words))
  switch (reading.kind) {
    case 'nothing':
      if (modalOpener) return openSubscribe(deps, question, modalOpener, null)
      return tooLittle(row, 'a project', SUBSCRIBE_EXAMPLE)
    case 'wish':
      return subscribeReply(await subscribe(deps, reading.input, by), {
        rest: reading.rest,
        reference,
      })
    case 'nameless':
      return nameless(row, reading.project, SUBSCRIBE_EXAMPLE)
    case 'unclear':
      return tooMuch(row, reading.extra, SUBSCRIBE_EXAMPLE)
    case 'no-branch':
    case 'no-reminder':
    case 'no-details':
    case 'near':
    case 'contradiction':
      return { outcome: reading.kind, answer: answerMisread(reading, usageOf(row)) }
  }
}

/** The most words of a project's name that are typed without quotes: `acme/web Build and test`. */
const NAME_WORDS_MAX = 6

/** Joins the first words if they are a known project's whole name, such as a workflow's. */
async function withProjectName(reads: Reads, words: readonly Word[]): Promise<readonly Word[]> {
  if (words.length < 2 || words.includes(CUT)) return words
  const texts = words.slice(0, NAME_WORDS_MAX).map(({ text }) => text)
  const names = texts.map((_, at) =>
    texts
      .slice(0, at + 1)
      .join(' ')
      .toLowerCase(),
  )
  const known = new Set((await projectsAs(reads, names.slice(1))).map(({ name }) => name.toLowerCase()))
  const last = names.findLastIndex((name, at) => at > 0 && known.has(name))
  return last < 0 ? words : [{ text: texts.slice(0, last + 1).join(' ') }, ...words.slice(last + 1)]
}

/** The row's first example only opens a form, so answers show this one. */
const SUBSCRIBE_EXAMPLE = '/ci subscribe acme/web changes release/*'

const unsubscribeCommand = (deps: Deps): Command => ({
  name: 'unsubscribe',
  alias: null,
  group: 'Follow',
  usage: '[project|all]',
  does: 'removes a subscription of this channel',
  examples: ['/ci unsubscribe', '/ci unsubscribe acme/web', '/ci unsubscribe all'],
  who: 'members',
  notes: ['Alone, it asks which one. The channel sees who removed a subscription.'],
  handle: (question) => answerUnsubscribeTyped(deps, question),
  choose: (question, choice) => answerUnsubscribeTyped(deps, { ...question, words: wordsOf(choice) }),
})

/** `/ci unsubscribe acme/web`, or `all`; alone, it removes the only subscription, or asks which one. */
async function answerUnsubscribeTyped(deps: Deps, question: Question): Promise<Reply> {
  const [project, extra] = await withProjectName(deps.store.read, question.words)
  if (extra) return tooMuch(question.row, extra.text)
  return unsubscribeFrom(deps, question, { project: project?.text ?? null, id: null })
}

/** Removes the subscriptions of a project, or (by a button) the one with this id. */
async function unsubscribeFrom(deps: Deps, { by, reference }: Interaction, input: UnsubscribeWish): Promise<Reply> {
  const outcome = await unsubscribe(deps, input, by)
  return replyTo(outcome, answerUnsubscribe(outcome, { command: 'unsubscribe', reference }))
}

const ID = /^\d{1,15}$/

const open = async (deps: Deps, click: Click, id: string | null): Promise<Reply | null> =>
  click.modalOpener && openSubscribe(deps, click, click.modalOpener, id)

async function remove(deps: Deps, click: Click): Promise<Reply | null> {
  return ID.test(click.value) ? unsubscribeFrom(deps, click, { project: null, id: click.value }) : null
}

/** Buildline was invited. Without the event, the next message that Slack accepts shows the same. Never throws. */
async function handleInvitation(deps: Deps, { log }: SlackDeps, body: unknown): Promise<void> {
  const channel = channelIn(body)
  const isOurs = listAt(body, 'authorizations').some((one) => textAt(one, 'user_id') === textAt(body, 'event', 'user'))
  if (channel === null || !isOurs) return
  try {
    await channelOpened(deps, channel)
    log.info({ channel }, 'Buildline was invited to a channel')
  } catch (error) {
    log.warn({ err: error, channel }, 'an invitation to a channel could not be stored')
  }
}

async function handleChannelMove(deps: Deps, { log }: SlackDeps, body: unknown): Promise<void> {
  const [from, to] = [channelIn(body, 'old_channel_id'), channelIn(body, 'new_channel_id')]
  if (from === null || to === null) return
  try {
    await channelMoved(deps, from, to)
    log.info({ channel: to, from }, 'a channel has another id in Slack')
  } catch (error) {
    log.warn({ err: error, channel: to, from }, "a channel's new id could not be stored")
  }
}

function channelIn(body: unknown, field = 'channel'): ChannelId | null {
  const id = textAt(body, 'event', field)
  return id !== null && isChannelId(id) ? id : null
}

const ofRules = (answer: ButtonHandler['answer'], describe: ButtonHandler['describe'] = () => null): ButtonHandler => ({
  what: 'rules',
  replaces: true,
  describe,
  answer,
})
