import { replyTargetOf } from './reply-target.ts'
import type { App, Context } from '@slack/bolt'
import { fieldOf } from '../../lib/raw-values.ts'
import { invariant } from '../../lib/assert.ts'
import { parseName } from '../../slack/commands/parse.ts'
import { ACTION_IDS } from '../../slack/messages/ids.ts'
import { requesterOf, listAt, messageOf, textAt } from './body.ts'
import type { SlackDeps } from './context.ts'
import { answerOld } from './fault-messages.ts'
import type { ButtonHandler, MenuHandler, Registry } from './feature.ts'
import type { FieldOption } from './fields.ts'
import { openingReplyTarget } from './modal.ts'
import { respond } from './respond.ts'
import { nameOf, readMention, readSlash, runCommand } from './run.ts'

/** Slack waits three seconds for the options of a menu or the faults of a form, and ignores a later answer. */
export const SOON_MS = 2_500

/** Every event to which the manifest subscribes. */
export const eventTypes = ({ events }: Registry): string[] => ['app_mention', ...events.keys()]

/**
 * Registers every feature with Bolt. Each interaction is acknowledged before anything else, since Slack waits three
 * seconds. It is on disk by then (`ReceivingApp`). Those that only an older version knew are answered too.
 */
export function registerFeatures(app: App, registry: Registry): void {
  app.command(/^/, async ({ ack, body, context }) => {
    await ack()
    await answerSlash(registry, depsIn(context), body)
  })
  app.event('app_mention', async ({ body, context }) => {
    const deps = depsIn(context)
    // A mention that gets no answer was not stored.
    if (deps.pending) await answerMention(registry, deps, body)
  })
  for (const [id, button] of registry.buttons)
    app.action(id, async ({ ack, body, context }) => {
      await ack()
      await answerClick(registry, depsIn(context), body, button)
    })
  for (const [id, change] of registry.fields)
    app.action(id, async ({ ack, body, action, context }) => {
      await ack()
      await change(depsIn(context), body, action)
    })
  for (const [id, menu] of registry.menus)
    app.options(id, async ({ ack, body, context }) => {
      await ack({ options: await optionsOf(depsIn(context), body, menu) })
    })
  for (const [id, form] of registry.forms)
    app.view(id, async ({ ack, body, context }) => {
      const { ack: answer, check, work } = form.receive(body)
      // Too late to show faults in a form that is already acknowledged: `work` finds and answers them.
      const faults = check && !depsIn(context).pending?.late && (await soon(depsIn(context), check(depsIn(context))))
      if (faults && Object.keys(faults).length > 0) return ack({ response_action: 'errors', errors: faults })
      await (answer === null ? ack() : ack(answer))
      await work?.(depsIn(context))
    })
  for (const [id, { answer }] of registry.shortcuts)
    app.shortcut(id, async ({ ack, body, context }) => {
      await ack()
      await answer(depsIn(context), body)
    })
  for (const [type, handle] of registry.events)
    app.event(type, async ({ body, context }) => {
      await handle(depsIn(context), body)
    })
  registerUnknown(app, registry)
}

/** Messages and forms of older versions stay in Slack forever, so each click on them is answered. */
function registerUnknown(app: App, registry: Registry): void {
  const { buttons, fields, menus, forms, shortcuts } = registry
  app.action({ type: 'block_actions' }, async ({ ack, body, context }) => {
    const [action] = listAt(body, 'actions')
    const id = textAt(action, 'action_id') ?? ''
    if (buttons.has(id) || fields.has(id)) return
    await ack()
    // A link button opens its address by itself; Slack reports the click all the same.
    if (action !== undefined && id !== ACTION_IDS.open) await answerClick(registry, depsIn(context), body, OLD_BUTTON)
  })
  app.options({ type: 'block_suggestion' }, async ({ ack, body }) => {
    if (!menus.has(textAt(body, 'action_id') ?? '')) await ack({ options: [] })
  })
  app.shortcut({}, async ({ ack, body, context }) => {
    if (shortcuts.has(textAt(body, 'callback_id') ?? '')) return
    await ack()
    const deps = depsIn(context)
    const ask = { what: 'old', by: requesterOf(body, 'shortcut'), replyTarget: replyTargetOf(deps, body) }
    await respond(deps, ask, async () => ({ outcome: 'old', answer: answerOld() }))
  })
  // A person who submits a form that Buildline no longer knows sees it close.
  app.view({ type: 'view_submission' }, async ({ ack, body }) => {
    if (!forms.has(textAt(body, 'view', 'callback_id') ?? '')) await ack()
  })
  app.view({ type: 'view_closed' }, async ({ ack }) => ack())
}

const OLD_BUTTON: ButtonHandler = { what: 'old', answer: async () => null }

function answerSlash(registry: Registry, deps: SlackDeps, body: unknown): Promise<void> {
  const typedCommand = readSlash(registry, body)
  const by = requesterOf(body, 'command')
  const { modalOpener, replyTarget } = openingReplyTarget(deps, body, replyTargetOf(deps, body))
  return respond(deps, { what: nameOf(typedCommand), by, replyTarget }, (reference) =>
    runCommand(registry, typedCommand, { by, thread: null, modalOpener, reference }),
  )
}

/** `@buildline stop` in a build's thread, where Slack runs no slash commands; elsewhere the build has to be named. */
function answerMention(registry: Registry, deps: SlackDeps, body: unknown): Promise<void> {
  const typedCommand = readMention(registry, body)
  const by = requesterOf(body, 'mention')
  return respond(
    deps,
    { what: nameOf(typedCommand), by, replyTarget: replyTargetOf(deps, body) },
    async (reference) => {
      const permit = await deps.permits('read', by)
      // A bot's account, although Slack does not mark its message as a bot's.
      if (permit.kind === 'no' && permit.why === 'bot') return { outcome: 'bot', answer: null }
      return runCommand(registry, typedCommand, { by, thread: messageOf(body), modalOpener: null, reference })
    },
  )
}

function answerClick(
  { commands }: Registry,
  deps: SlackDeps,
  body: unknown,
  { what, replaces = false, answer }: ButtonHandler,
): Promise<void> {
  const value = textAt(listAt(body, 'actions')[0], 'value') ?? ''
  const by = requesterOf(body, textAt(body, 'view', 'id') === null ? 'button' : 'modal')
  // An answer to one person never replaces a message that everybody sees.
  const { modalOpener, replyTarget } = openingReplyTarget(
    deps,
    body,
    replyTargetOf(deps, body, replaces && isOwnMessage(body)),
  )
  return respond(deps, { what, by, replyTarget }, async (reference) => {
    const reply = await answer({ ...deps, commands, value, by, modalOpener, reference })
    return reply ?? { outcome: 'old', answer: answerOld() }
  })
}

const isOwnMessage = (body: unknown): boolean => fieldOf(fieldOf(body, 'container'), 'is_ephemeral') === true

/** The options of a menu. If they fail or take too long, the menu is empty and the log says why. */
async function optionsOf(deps: SlackDeps, body: unknown, menu: MenuHandler): Promise<FieldOption[]> {
  try {
    const options = await soon(deps, permittedOptions(deps, body, menu))
    if (options === null) deps.log.warn({}, 'the options of a menu came too late')
    return options ?? []
  } catch (error) {
    deps.log.warn({ err: error }, 'a menu has no options')
    return []
  }
}

/** Waits for a value as long as Slack waits for the acknowledgement that contains it; null: it took too long. */
async function soon<Value>({ clock, pending }: SlackDeps, value: Promise<Value>): Promise<Value | null> {
  const stop = new AbortController()
  // Includes the time that storing the interaction took.
  const waitedMs = clock.now() - (pending?.waitsSince ?? clock.now())
  const late = clock.sleep(Math.max(0, SOON_MS - waitedMs), stop.signal).then(() => null)
  return Promise.race([value, late]).finally(() => stop.abort())
}

async function permittedOptions(deps: SlackDeps, body: unknown, menu: MenuHandler): Promise<FieldOption[]> {
  const { user, team } = requesterOf(body, 'modal')
  const permit = await deps.permits('read', { user, team })
  return permit.kind === 'yes' ? menu(parseName(textAt(body, 'value') ?? '')) : []
}

/** What Bolt carries from the receiver to the listener: the dependencies of this one interaction. */
export const withDeps = (deps: SlackDeps): { deps: SlackDeps } => ({ deps })

function depsIn(context: Context): SlackDeps {
  const { deps }: { [name: string]: unknown; deps?: SlackDeps } = context
  invariant(deps, 'every request carries its dependencies')
  return deps
}
