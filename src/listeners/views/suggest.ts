import { askerOf, textAt } from '../body.ts'
import type { Door } from '../door.ts'
import { FIND_PROJECT_ID, projectOptions, type Option } from './find-build.ts'

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
  if (textAt(body, 'action_id') !== FIND_PROJECT_ID) return []
  const { user, team } = askerOf(body, 'modal')
  const permit = await operations.mayRead({ user, team })
  return permit.kind === 'yes' ? projectOptions(await operations.suggestProjects(textAt(body, 'value') ?? '')) : []
}
