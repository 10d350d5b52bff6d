import type { Clock } from '../../../src/lib/clock.ts'
import type { Push } from '../../sandbox-ci/src/builds.ts'
import type { BuildSnapshot } from '../../sandbox-ci/src/snapshot.ts'
import type { Acknowledgement } from '../../sandbox-slack/src/acknowledgement.ts'
import { elementsOf } from '../../sandbox-slack/src/elements.ts'
import { listOf, objectOf, type Json } from '../../sandbox-slack/src/json.ts'
import type { Message } from '../../sandbox-slack/src/messages.ts'
import type { SandboxSlack } from '../../sandbox-slack/src/sandbox-slack.ts'
import { drawnText } from '../../sandbox-slack/src/transcript.ts'
import { CHANNELS } from '../../sandbox-slack/src/workspace.ts'
import type { Service } from './service/service.ts'

/** Where a scenario is played: a service that builds, a Slack with the bot in it, and the clock of both. */
export interface Stage {
  ci: Pick<Service, 'push' | 'storm' | 'approve' | 'state'> & Partial<Pick<Service, 'reportTests'>>
  slack: SandboxSlack
  clock: Clock
  /** how long one looks at the end of a build before the next thing happens */
  lookMs: number
}

type BuildName = Pick<BuildSnapshot, 'project' | 'id'>

/** How long a person waits for a button or an answer before they go on without. */
export const PATIENCE_MAX_MS = 10_000
const LOOK_AGAIN_MS = 50

/** How often a person tries before giving up, and how soon they try again. */
export const TRIES_MAX = 5
const TRY_AGAIN_MS = 2_000

/** Somebody pushes. Throws if CI does not build it. */
export function push(ci: Pick<Service, 'push'>, project: string, commit: Push): BuildSnapshot {
  const outcome = ci.push(project, commit)
  if (outcome.kind !== 'build') throw new Error(`the sandbox did not build ${project}: ${outcome.kind}`)
  return outcome.build
}

/**
 * A person presses the button with this label on the build's card in #builds as soon as it is there, and confirms if
 * asked. If nothing happens, for example because the bot is down, they press again. If the build moves on meanwhile,
 * because somebody at the page was quicker, nothing is pressed.
 */
export async function press(stage: Stage, { by, label, build }: { by: string; label: string; build: BuildSnapshot }) {
  const { ci, slack, clock } = stage
  const before = stateOf(ci, build)
  const hasMoved = () => (stateOf(ci, build) === before ? undefined : ('moved' as const))
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const found = await waitFor(clock, () => hasMoved() ?? findButton(slack, build, label))
    if (found === undefined || found === 'moved') return
    const { kind } = await slack.people.click({ user: by, channel: CHANNELS.builds, ...found })
    if (await waitFor(clock, hasMoved, patienceAfter(kind))) return
  }
}

/** What a person puts into a form, by the labels of its fields: the option of a menu, or a Slack user. */
export type Filled = Readonly<Record<string, string>>

/** A person presses the button on the build's card that opens a form, and has it before them. */
export async function openForm(stage: Stage, { by, label, build }: { by: string; label: string; build: BuildName }) {
  const { slack, clock } = stage
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const found = await waitFor(clock, () => findButton(slack, build, label))
    if (found === undefined) return
    slack.views.clear(by)
    const { kind } = await slack.people.click({ user: by, channel: CHANNELS.builds, ...found })
    if (await waitFor(clock, () => formOf(slack, by)?.['submit'] ?? undefined, patienceAfter(kind))) return
  }
}

/** They fill it in and send it. */
export async function sendForm({ slack }: Stage, { by, filled }: { by: string; filled: Filled }) {
  const form = formOf(slack, by)
  if (form) await slack.people.submitView({ user: by, values: valuesOf(listOf(form['blocks']), filled) })
}

export const formOf = (slack: SandboxSlack, user: string): Json | undefined => slack.views.stack(user).at(-1)

function valuesOf(blocks: readonly Json[], filled: Filled): Record<string, Record<string, Json>> {
  const fields = blocks.filter((block) => filled[labelOf(block)] !== undefined)
  return Object.fromEntries(
    fields.map((block) => {
      const [element, wanted] = [objectOf(block['element']), filled[labelOf(block)]!]
      const option = listOf(element['options']).find((one) => objectOf(one['text'])['text'] === wanted)
      const value = option ? { selected_option: option } : { selected_user: wanted }
      return [String(block['block_id']), { [String(element['action_id'])]: value }]
    }),
  )
}

const labelOf = (block: Json): string => String(objectOf(block['label'])['text'])

/** Somebody looks at a build that waits, and approves it where the service has that. Throws if it does not know the build. */
export async function approve({ ci, clock, lookMs }: Stage, build: BuildSnapshot): Promise<void> {
  await waitFor(clock, () => buildNow(ci, build)?.status === 'waiting' || undefined)
  await clock.sleep(lookMs)
  if (ci.approve(build.uuid).kind === 'no-build')
    throw new Error(`the sandbox does not know ${build.project} #${build.id}`)
}

/**
 * A person types `/ci …` in a channel and waits until the answer is there; where none comes, or the bot says that it was
 * interrupted, they type it again.
 */
export async function ask({ slack, clock }: Stage, { by, text, channel = CHANNELS.builds }: Ask): Promise<void> {
  const answers = () => slack.ephemerals(channel, by).map(({ message }) => message.text)
  let read = answers().length
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const { kind } = await slack.people.runCommand({ user: by, channel, command: '/ci', text })
    const answer = await waitFor(clock, () => answers()[read], patienceAfter(kind))
    if (answer !== undefined && !answer.includes(INTERRUPTED)) return
    read = answers().length
  }
}

/**
 * A person presses a button of the newest answer that only they see, if it has one with this label. Where nothing comes
 * of it, they press again.
 */
export async function pressInAnswer({ slack, clock }: Stage, { by, label, channel }: InAnswer): Promise<void> {
  const find = () => {
    const message = slack.ephemerals(channel, by).at(-1)?.message
    const button = message?.blocks.flatMap(elementsOf).find(({ text }) => objectOf(text)['text'] === label)
    return message && button && { ts: message.ts, actionId: String(button['action_id']) }
  }
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const found = find()
    if (!found) return
    const { kind } = await slack.people.click({ user: by, channel, ...found })
    if (await waitFor(clock, () => find()?.ts !== found.ts || undefined, patienceAfter(kind))) return
  }
}

interface InAnswer {
  by: string
  label: string
  channel: string
}

/** As it stands in the answer. */
const INTERRUPTED = '*Interrupted*'

interface Ask {
  by: string
  text: string
  /** left out: #builds */
  channel?: string
}

/** A person looks at a channel until the build's card is there and says that, or their patience is at its end. */
export async function awaitCard(
  { slack, clock }: Stage,
  channel: string,
  build: BuildName,
  { says = '', patienceMs = PATIENCE_MAX_MS } = {},
): Promise<void> {
  const card = () => cardsOf(messagesIn(slack, channel), build).find(({ text }) => text.includes(says))
  await waitFor(clock, card, patienceMs)
}

/** The button of a red branch without an owner, and of one with an owner. */
export const ON_IT = "I'm on it"
export const CHANGE = 'Change…'

/** The owner of the red branch, as its card names them; null: it has none; undefined: not a red branch's card. */
export function ownerOn({ attachments }: Pick<Message, 'attachments'>): string | null | undefined {
  const shown = JSON.stringify(attachments)
  if (!shown.includes(ON_IT) && !shown.includes(CHANGE)) return undefined
  return /<@(\w+)> is on it/.exec(shown)?.[1] ?? null
}

/** Waits until the red card of a build names this owner, or (null) none. */
export async function awaitOwner(
  { slack, clock }: Stage,
  build: BuildName,
  owner: string | null,
  patienceMs = PATIENCE_MAX_MS,
): Promise<void> {
  const cards = () => cardsOf(messagesIn(slack, CHANNELS.builds), build)
  await waitFor(clock, () => cards().find((card) => ownerOn(card) === owner), patienceMs)
}

/** The messages of a channel, with what people see of them as their text. */
export const messagesIn = (slack: SandboxSlack, channel: string): Message[] =>
  [...slack.workspace.channels.get(channel)!.messages.values()].map((message) => ({
    ...message,
    text: drawnText(message),
  }))

/** Slack tells at once when the bot is not there: one waits only a moment then. */
const patienceAfter = (kind: Acknowledgement['kind']): number =>
  kind === 'unreachable' ? TRY_AGAIN_MS : PATIENCE_MAX_MS

/** The cards that a channel's messages hold of this build. */
export const cardsOf = (messages: readonly Message[], { project, id }: BuildName): Message[] =>
  messages.filter(({ threadTs, text }) => threadTs === undefined && names(text, `${project} #${id}`))

/** `#51` is not found in `#512`. */
function names(text: string, name: string): boolean {
  const at = text.indexOf(name)
  return at >= 0 && !/\d/.test(text[at + name.length] ?? '')
}

function stateOf(ci: Pick<Service, 'state'>, build: BuildSnapshot): string {
  const now = buildNow(ci, build)
  return `${now?.runs.length ?? 0} ${now?.status ?? ''}`
}

const buildNow = (ci: Pick<Service, 'state'>, { uuid }: BuildSnapshot): BuildSnapshot | undefined =>
  ci.state().builds.find((one) => one.uuid === uuid)

// People go by what stands on a button; what it is called inside is the bot's own business.
function findButton(
  slack: SandboxSlack,
  build: BuildName,
  label: string,
): { ts: string; actionId: string } | undefined {
  for (const { ts, blocks, attachments } of cardsOf(messagesIn(slack, CHANNELS.builds), build)) {
    const all = [...blocks, ...attachments.flatMap((one) => listOf(one['blocks']))].flatMap(elementsOf)
    const button = all.find(({ text }) => objectOf(text)['text'] === label)
    if (button) return { ts, actionId: String(button['action_id']) }
  }
  return undefined
}

async function waitFor<T>(
  clock: Clock,
  look: () => T | undefined,
  patienceMs = PATIENCE_MAX_MS,
): Promise<T | undefined> {
  const until = clock.now() + patienceMs
  for (;;) {
    const seen = look()
    if (seen !== undefined || clock.now() > until) return seen
    await clock.sleep(LOOK_AGAIN_MS)
  }
}
