import { z } from 'zod'
import { assertNever } from '../../lib/assert.ts'
import { getChannel, getMessage, getUser } from './acts.ts'
import type { Acts } from './acts.ts'
import type { ControlAnswer } from './control.ts'
import { directDeed, findNoReader, openDirect } from './direct-control.ts'
import type { DirectDeed, Opened } from './direct-control.ts'
import { hasBot } from './methods/channels.ts'
import type { People } from './people.ts'
import { getElement } from './people/message.ts'

import { findTooShort, performViewDeed, prepareViewDeed, toOptions, viewDeeds } from './view-control.ts'
import type { ViewDeed, ViewOutcome } from './view-control.ts'
import type { Views } from './views.ts'
import type { Workspace } from './workspace.ts'

export interface PeopleControlParts {
  workspace: Workspace
  people: People
  views: Views
  acts: Acts
}

/**
 * `POST /sandbox/people`: performs one action of a person. 200 with the bot's acknowledgement (`said` for a message of
 * which the bot gets no event); 400 if the person cannot do it, 404 if the user or target does not exist, 503 if no bot
 * is connected. After 400 and 404 nothing has happened.
 */
export async function answerPeople(parts: PeopleControlParts, body: unknown): Promise<ControlAnswer> {
  const parsed = deedSchema.safeParse(body)
  if (!parsed.success) return refused(400, z.prettifyError(parsed.error))
  const refusal = findRefusal(parts, parsed.data)
  if (refusal) return refusal
  try {
    return { status: 200, body: toBody(await perform(parts, parsed.data)) }
  } catch (error) {
    // The action was checked above, so the only error left is that no bot is connected.
    return refused(503, wordsOf(error))
  }
}

const place = { user: z.string(), channel: z.string() }
const spot = { ...place, ts: z.string() }
const control = { actionId: z.string(), blockId: z.string().exactOptional() }

const deedSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('command'), ...place, command: z.string().regex(/^\/\S+$/), text: z.string() }),
  z.strictObject({
    kind: z.literal('click'),
    ...spot,
    ...control,
    selected: z.record(z.string(), z.unknown()).exactOptional(),
    confirmed: z.boolean().exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('say'),
    ...place,
    text: z.string().regex(/\S/, 'nothing is said'),
    threadTs: z.string().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('shortcut'), ...spot, callbackId: z.string() }),
  z.strictObject({ kind: z.literal('search'), ...spot, ...control, value: z.string() }),
  directDeed,
  ...viewDeeds,
])

type Deed = z.output<typeof deedSchema>
type PlaceDeed = Exclude<Deed, ViewDeed | DirectDeed>

const isInPlace = (deed: Deed): deed is PlaceDeed => 'channel' in deed

const refused = (status: number, error: string): ControlAnswer => ({ status, body: { ok: false, error } })

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function findRefusal(parts: PeopleControlParts, deed: Deed): ControlAnswer | null {
  const { workspace } = parts
  const refusal = findMissing(workspace, deed) ?? findNobody(workspace, deed)
  if (refusal) return refusal
  if (isInPlace(deed)) return findNonsense(workspace, deed)
  return deed.kind === 'open-direct' ? findNoReader(workspace, deed) : prepareViewDeed(parts, deed)
}

function findNobody(workspace: Workspace, { user }: Deed): ControlAnswer | null {
  const { role, isDeactivated, realName } = getUser(workspace, user)
  return role === 'bot' || isDeactivated ? refused(400, `nobody acts as ${realName}`) : null
}

function findMissing(workspace: Workspace, deed: Deed): ControlAnswer | null {
  try {
    requireAll(workspace, deed)
    return null
  } catch (error) {
    return refused(404, wordsOf(error))
  }
}

function requireAll(workspace: Workspace, deed: Deed): void {
  getUser(workspace, deed.user)
  if (!isInPlace(deed)) return
  const channel = getChannel(workspace, deed.channel)
  if (deed.kind === 'click' || deed.kind === 'search') getElement(workspace, deed)
  if (deed.kind === 'shortcut') getMessage(channel, deed.ts)
  if (deed.kind === 'say' && deed.threadTs !== undefined) getMessage(channel, deed.threadTs)
}

function findNonsense(workspace: Workspace, deed: PlaceDeed): ControlAnswer | null {
  const { realName } = getUser(workspace, deed.user)
  const { isArchived, members, messages, name } = getChannel(workspace, deed.channel)
  if (isArchived) return refused(400, `#${name} is archived`)
  if (!members.has(deed.user)) return refused(400, `${realName} is not in #${name}`)
  if (deed.kind === 'say' && messages.get(deed.threadTs ?? '')?.threadTs !== undefined) {
    return refused(400, `${deed.threadTs} is a reply: a thread is named by its root`)
  }
  if (deed.kind === 'search') return findTooShort(getElement(workspace, deed).found.element, deed)
  return deed.kind === 'click' ? findUnasked(workspace, deed) : null
}

function findUnasked(workspace: Workspace, deed: Deed & { kind: 'click' }): ControlAnswer | null {
  const { element } = getElement(workspace, deed).found
  if (deed.confirmed !== false || element['confirm'] !== undefined) return null
  return refused(400, `${deed.actionId} asks for no confirmation`)
}

type Outcome = ViewOutcome | Opened | { kind: 'said'; what: 'say'; ts: string }

async function perform(parts: PeopleControlParts, deed: Deed): Promise<Outcome> {
  const { people, workspace } = parts
  if (!isInPlace(deed)) return deed.kind === 'open-direct' ? openDirect(workspace, deed) : performViewDeed(parts, deed)
  switch (deed.kind) {
    case 'command':
      return people.runCommand(deed)
    case 'click':
      return people.click(deed)
    case 'shortcut':
      return people.useShortcut(deed)
    case 'search':
      return toOptions(await people.suggest(deed))
    case 'say':
      return say(parts, deed)
    default:
      return assertNever(deed)
  }
}

async function say({ workspace, people, acts }: PeopleControlParts, deed: Deed & { kind: 'say' }): Promise<Outcome> {
  const text = withBotMention(workspace, deed.text)
  // An app gets mentions only in channels that it is in. Elsewhere its name is plain text.
  const isToBot = text !== null && hasBot(workspace, getChannel(workspace, deed.channel))
  return isToBot ? people.mentionBot({ ...deed, text }) : { kind: 'said', what: 'say', ts: acts.say(deed) }
}

/** The text with the bot's name as a mention; null if it does not name the bot. */
function withBotMention({ bot }: Workspace, text: string): string | null {
  const mention = `<@${bot.userId}>`
  const name = `@${bot.name}`.toLowerCase()
  const told = text.trim().replaceAll(/(?<=^|[\s(])@[\w-]+/g, (word) => (word.toLowerCase() === name ? mention : word))
  return told.includes(mention) ? told : null
}

/** JSON.stringify would write an Error as `{}`. */
const toBody = (outcome: Outcome): unknown =>
  outcome.kind === 'unreachable' ? { ...outcome, cause: wordsOf(outcome.cause) } : outcome
