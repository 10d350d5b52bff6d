import { requesterOf, textAt, userOf } from '../kit/body.ts'
import type { Feature } from '../kit/feature.ts'
import { readHome, type HomeDeps, type HomeOutcome } from './home.ts'
import { setNewest } from '../../lib/bounded.ts'
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

/** How many people's Homes are remembered as drawn. The one drawn longest ago is next drawn when it is opened. */
export const DRAWN_MAX = 1_000

type Slack = Pick<SlackDeps, 'client' | 'log' | 'newReference'>

/** Draws App Homes: when a person opens theirs, and after each of their interactions. Never throws. */
export function createHomes(read: (user: string, team: string | null) => Promise<HomeOutcome>) {
  // Each person's last drawing. The next one waits for it, so that an older view never replaces a newer one.
  const drawings = new Map<string, Promise<void>>()

  async function open(slack: Slack, user: string, team: string | null): Promise<void> {
    const drawing = (drawings.get(user) ?? Promise.resolve()).then(() => draw(slack, user, () => read(user, team)))
    setNewest(drawings, user, drawing, DRAWN_MAX)
    await drawing
  }

  return {
    open,
    /** @param isSeen whether it was surely drawn before, because a click came from it */
    async redraw(slack: Slack, user: string, team: string | null, isSeen: boolean) {
      if (isSeen || drawings.has(user)) await open(slack, user, team)
    },
  }
}

async function draw(slack: Slack, user: string, read: () => Promise<HomeOutcome>): Promise<void> {
  const view = await viewFor(slack, read)
  try {
    await slack.client.apiCall('views.publish', { user_id: user, view })
  } catch (error) {
    slack.log.info(
      { code: classify(error).code, user },
      'a Home could not be shown; it is drawn when it is next opened',
    )
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
