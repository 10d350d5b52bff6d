import { usePanel } from '../panel/panel-store.ts'
import { useDeed } from '../panel/use-deed.ts'
import { BOT_WORDS } from './figures.tsx'

const timesWords = (times: number): string => ['once', 'twice'][times - 1] ?? `${times} times`

/** Kills the bot's process with a real SIGKILL, and starts it again. */
export function Plug() {
  const bot = usePanel((state) => state.watched.bot)
  const whileAway = usePanel((state) => state.service.whileAway)
  const { deed, isBusy } = useDeed()
  if (bot === null) return null
  const isIn = bot.state !== 'unplugged'
  return (
    <section class="panel-part" aria-labelledby="plug-title">
      <h3 id="plug-title">The bot</h3>
      <p role="status" id="bot-state">
        {BOT_WORDS[bot.state]}
        {isIn && bot.pid !== null && ` as process ${bot.pid}`}, started {timesWords(bot.starts)}
      </p>
      <div class="panel-row">
        <button
          class={isIn ? 'button danger' : 'button primary'}
          type="button"
          disabled={isBusy || bot.state === 'gone'}
          onClick={() => void deed('panel/plug', { isIn: !isIn })}
        >
          {isIn ? 'Pull the plug' : 'Start it again'}
        </button>
      </div>
      <p class="panel-note">{isIn ? 'SIGKILL: it gets no chance to finish anything.' : whileAway}</p>
    </section>
  )
}
