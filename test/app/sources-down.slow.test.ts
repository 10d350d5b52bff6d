import { expect, onTestFinished, test } from 'vitest'
import { rowsOf, settled, startApp, until } from '../support/app.ts'
import { cards, failed, openPlayed, SOURCES, type Played } from '../support/sources.ts'

/** Polling is due every 15 s. */
const POLLED_WITHIN_MS = 40_000

/** The first look is over, and so is its second, since the services' times are in seconds: later events are news. */
const hasLooked = ({ folder, source: { name } }: Played) =>
  until(
    'it has looked',
    () => {
      const [looked] =
        name === 'ci'
          ? rowsOf(folder, 'select max(looked_at) as at from project')
          : rowsOf(folder, `select last_done_at as at from job where name = '${name} acme/web'`)
      const at = Number(looked?.['at'] ?? 0)
      return at > 0 && Date.now() > at + 1_000
    },
    POLLED_WITHIN_MS,
  )

test.each(Object.entries(SOURCES))(
  '%s: a build that ended while the bot was down is shown once it is back, and not again by late deliveries',
  async (_, play) => {
    const stage = await openPlayed(play)
    await failed(stage)
    await hasLooked(stage)
    await settled(stage.app.url)
    await stage.app.stop()
    stage.source.deliverTo(null)
    const number = stage.source.push()
    stage.source.end(number, 'failed')
    const app = await startApp(stage.settings)
    onTestFinished(() => app.stop())
    const isTold = () => cards(stage).some((card) => card.includes(`#${number}`))
    await until('it is told', isTold, POLLED_WITHIN_MS)
    await settled(app.url)
    for (const body of await stage.source.sent()) await stage.source.send(app.url, body)
    await settled(app.url)
    expect(cards(stage)).toHaveLength(2)
  },
  2 * POLLED_WITHIN_MS,
)
