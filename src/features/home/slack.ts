import { requesterOf, textAt, userOf } from '../kit/body.ts'
import type { Feature } from '../kit/feature.ts'
import { readHome, type HomeDeps, type HomeOutcome } from './home.ts'
import { createHash } from 'node:crypto'
import type { SlackDeps } from '../kit/context.ts'
import { classify } from '../../slack/api/errors.ts'
import { answerFault } from '../kit/fault-messages.ts'
import { answerNotAllowed } from '../kit/not-allowed.ts'
import { answerHome, homeView, type HomeView } from './view.ts'

/** A person's Home is drawn when they open it, and after each of their interactions, since it may show its effect. */
export function home(deps: HomeDeps): Feature {
  const homes = createHomes((user, team) => readHome(deps, user, team))
  return {
    events: {
      async app_home_opened(slack, body) {
        const tab = textAt(body, 'event', 'tab')
        const { user, team } = requesterOf(body, 'mention')
        // Ignores the app's other tabs.
        if (user !== '' && (tab === null || tab === 'home')) await homes.open(slack, user, team)
      },
    },
    async afterInteraction(slack, body) {
      const isInHome = textAt(body, 'view', 'type') === 'home'
      const { user, team } = requesterOf(body, 'button')
      if (userOf(body) !== null) await homes.redraw(slack, user, team, isInHome)
    },
  }
}

/** How many people's last drawings are remembered. Beyond this, the oldest is forgotten and drawn again when opened. */
export const DRAWN_MAX = 1_000

type ReadHome = (user: string, team: string | null) => Promise<HomeOutcome>
type Slack = Pick<SlackDeps, 'client' | 'log' | 'newReference'>

/** Draws App Homes: when a person opens theirs, and after each of their interactions. Never throws. */
export interface Homes {
  open(slack: Slack, user: string, team: string | null): Promise<void>
  /** Draws it if it has changed. @param isSeen whether it was surely drawn before, because a click came from it */
  redraw(slack: Slack, user: string, team: string | null, isSeen: boolean): Promise<void>
}

export function createHomes(read: ReadHome): Homes {
  // Each person's last drawing, which resolves to a digest of what Slack shows; null: not known. The next one waits for
  // it, so that an older view never replaces a newer one.
  const drawings = new Map<string, Promise<string | null>>()

  async function draw(slack: Slack, user: string, team: string | null, mayEqual: boolean): Promise<void> {
    const before = drawings.get(user) ?? Promise.resolve(null)
    const drawing = before.then((digest) => drawOnce(slack, read, { user, team, shown: mayEqual ? digest : null }))
    drawings.delete(user)
    drawings.set(user, drawing)
    if (drawings.size > DRAWN_MAX) drawings.delete(drawings.keys().next().value!)
    await drawing
  }

  return {
    open: (slack, user, team) => draw(slack, user, team, false),
    redraw: async (slack, user, team, isSeen) => {
      if (isSeen || drawings.has(user)) await draw(slack, user, team, true)
    },
  }
}

/** @param shown what Slack shows, which is not drawn again. @returns what Slack shows now; null: not known */
async function drawOnce(
  slack: Slack,
  read: ReadHome,
  { user, team, shown }: { user: string; team: string | null; shown: string | null },
): Promise<string | null> {
  const view = await viewFor(slack, () => read(user, team))
  const digest = createHash('sha256').update(JSON.stringify(view)).digest('hex')
  if (digest === shown) return shown
  try {
    await slack.client.apiCall('views.publish', { user_id: user, view })
    return digest
  } catch (error) {
    slack.log.info(
      { code: classify(error).code, user },
      'a Home could not be shown; it is drawn when it is next opened',
    )
    return null
  }
}

/** The view for one person: their Home, a refusal if they may not see it, or an error if it cannot be read. */
async function viewFor({ log, newReference }: Slack, read: () => Promise<HomeOutcome>): Promise<HomeView> {
  try {
    const outcome = await read()
    if (outcome.kind === 'home') return homeView(outcome.home)
    return answerHome(answerNotAllowed(outcome, { action: null, reference: newReference() }))
  } catch (error) {
    const reference = newReference()
    log.error({ err: error, reference }, 'a Home could not be read')
    return answerHome(answerFault(reference))
  }
}
