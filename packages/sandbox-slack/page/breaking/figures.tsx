import type { Watched } from '../../src/panel-state.ts'
import { usePanel } from '../panel/panel-store.ts'
import './breaking.css'

/** Always visible: lost and doubled cards, how far Slack is behind, what waits, and the bot's state. */
export function Figures() {
  const watched = usePanel((state) => state.watched)
  if (watched === null) return null
  const { standing, lag, queue, bot } = watched
  return (
    <p id="figures" class="figures" aria-label="What CI sent against what Slack shows">
      <span class={standing.lost.length + standing.doubled.length > 0 ? 'figure bad' : 'figure good'} id="agreement">
        lost {standing.lost.length} · doubled {standing.doubled.length}
      </span>
      {standing.wrong.length > 0 && <span class="figure bad">wrong {standing.wrong.length}</span>}
      <span class="figure">on its way {standing.onTheWay + standing.notTaken}</span>
      <span class="figure more">{lagWords(lag)}</span>
      <span class="figure more">
        queue {queue === null ? '–' : queue.ingest + queue.post + queue.edit + queue.look}
      </span>
      <span class={bot.state === 'running' ? 'figure' : 'figure bad'}>bot {BOT_WORDS[bot.state]}</span>
    </p>
  )
}

/** If no build waits for its card, shows the median. */
const lagWords = ({ oldestMs, medianMs }: Watched['lag']): string =>
  oldestMs === null ? `lag (median) ${secondsWords(medianMs)}` : `lag ${secondsWords(oldestMs)}`

export const BOT_WORDS = {
  running: 'running',
  starting: 'starting',
  unplugged: 'unplugged',
  gone: 'gone',
} as const

export const secondsWords = (ms: number | null): string => (ms === null ? '–' : `${(ms / 1_000).toFixed(1)} s`)
