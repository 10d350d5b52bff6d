import { askerOf, textAt } from './body.ts'
import type { Door } from './context.ts'
import { ALL_PROJECTS, FIND_PROJECT_ID, OPTIONS_MAX, projectOptions, type Option } from './builds/find-modal.ts'
import { SUBSCRIBE_FIELDS } from './subscriptions/form-view.ts'

/** Slack waits three seconds for the options of a menu, and an answer that comes later is no answer. */
export const SUGGEST_WITHIN_MS = 2_500

/** The options of a menu, in time: whatever goes wrong, the menu is empty and the log says why. */
export async function suggestionsFor(door: Door, body: unknown): Promise<{ options: Option[] }> {
  const stop = new AbortController()
  const late = door.clock.sleep(SUGGEST_WITHIN_MS, stop.signal).then(() => null)
  try {
    const options = await Promise.race([optionsFor(door, body), late])
    if (options === null) door.log.warn({}, 'the options of a menu came too late')
    return { options: options ?? [] }
  } catch (error) {
    door.log.warn({ err: error }, 'a menu has no options')
    return { options: [] }
  } finally {
    stop.abort()
  }
}

async function optionsFor({ operations }: Door, body: unknown): Promise<Option[]> {
  const field = textAt(body, 'action_id')
  if (field !== FIND_PROJECT_ID && field !== SUBSCRIBE_FIELDS.project) return []
  const { user, team } = askerOf(body, 'modal')
  const permit = await operations.mayRead({ user, team })
  if (permit.kind !== 'yes') return []
  const text = textAt(body, 'value') ?? ''
  const projects = projectOptions(await operations.suggestProjects(text))
  return field === FIND_PROJECT_ID ? projects : [...allIfMeant(text), ...projects].slice(0, OPTIONS_MAX)
}

const allIfMeant = (text: string): Option[] =>
  ALL_PROJECTS.text.text.toLowerCase().startsWith(text.trim().toLowerCase()) ? [ALL_PROJECTS] : []
