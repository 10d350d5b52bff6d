import { requesterOf, textAt, userOf } from '../kit/body.ts'
import type { Feature } from '../kit/feature.ts'
import { createHomes } from './draw.ts'
import { readHome, type HomeDeps } from './home.ts'

/** A person's Home is drawn when they open it, and after each of their requests, which it may show. */
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
    async afterRequest(slack, body) {
      const isInHome = textAt(body, 'view', 'type') === 'home'
      const { user, team } = requesterOf(body, 'button')
      if (userOf(body) !== null) await homes.redraw(slack, user, team, isInHome)
    },
  }
}
