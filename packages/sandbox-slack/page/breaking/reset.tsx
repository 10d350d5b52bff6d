import { useDeed } from '../panel/use-deed.ts'
import { useAsk } from '../workspace/ask.tsx'

/** Resets the demo: an empty database, an empty workspace, a new CI. */
export function Reset() {
  const { deed, isBusy } = useDeed()
  const ask = useAsk()
  const reset = async (isPlayed: boolean) => {
    if (await ask(SURE)) await deed('panel/reset', { isPlayed })
  }
  return (
    <section class="panel-part" aria-labelledby="reset-title">
      <h3 id="reset-title">Start over</h3>
      <div class="panel-row">
        <button class="button danger" type="button" disabled={isBusy} onClick={() => void reset(false)}>
          Reset
        </button>
        <button class="button" type="button" disabled={isBusy} onClick={() => void reset(true)}>
          Reset and play the scenario
        </button>
      </div>
      <p class="panel-note">The page comes back by itself after some seconds.</p>
    </section>
  )
}

const text = (words: string) => ({ type: 'plain_text', text: words }) as const

const SURE = {
  title: text('Start over?'),
  text: text('All messages, builds and settings of this sandbox are deleted.'),
  confirm: text('Reset'),
  deny: text('Keep it'),
  style: 'danger',
} as const
