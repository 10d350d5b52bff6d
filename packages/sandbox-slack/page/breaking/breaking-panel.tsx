import '../panel/panel.css'
import './breaking.css'
import { SLACK_BREAKS } from '../../src/panel-state.ts'
import type { CiBreak, SlackBreak } from '../../src/panel-state.ts'
import { usePanel } from '../panel/panel-store.ts'
import { useWish } from '../panel/use-wish.ts'
import { Plug } from './plug.tsx'
import { Reset } from './reset.tsx'
import { StandingPart } from './standing.tsx'

/** Switches on faults of Slack, CI and the bot. */
export function BreakingPanel() {
  const slackBreak = usePanel((state) => state.slackBreak)
  const ciBreak = usePanel((state) => state.ciBreak)
  const ciBreaks = usePanel((state) => state.service.breaks)
  if (slackBreak === null || ciBreak === null || ciBreaks === null) return null
  return (
    <>
      <Breaks title="Slack" place="slack" all={SLACK_BREAKS} words={SLACK_WORDS} now={slackBreak} />
      <Breaks title="CI" place="ci" all={ciBreaks} words={CI_WORDS} now={ciBreak} />
      <Plug />
      <StandingPart />
      <Reset />
    </>
  )
}

const SLACK_WORDS: Record<SlackBreak, string> = {
  none: 'works',
  ratelimited: 'answers 429 to everything: wait 5 s',
  down: 'is down',
  'accept-then-drop': 'takes each new message, and drops the line before it answers',
}

const CI_WORDS: Record<CiBreak, string> = {
  none: 'works',
  slow: 'takes 6 s for each answer',
  down: 'does not answer (its deliveries still come)',
  forgets: "has forgotten the bot's key",
}

interface BreaksProps<Break extends string> {
  title: string
  place: 'slack' | 'ci'
  all: readonly Break[]
  words: Record<Break, string>
  now: Break | 'other'
}

function Breaks<Break extends string>({ title, place, all, words, now }: BreaksProps<Break>) {
  const { value, choose } = useWish<Break | 'other'>(now, `panel/${place}`, (one) => ({ break: one }))
  return (
    <section class="panel-part">
      <fieldset>
        <legend>{title} …</legend>
        {all.map((one) => (
          <label key={one} class="panel-check">
            <input type="radio" name={`break-${place}`} checked={one === value} onChange={() => choose(one)} />
            {words[one]}
          </label>
        ))}
        {value === 'other' && <p class="panel-note">A script has set another fault; choose one to take it away.</p>}
      </fieldset>
    </section>
  )
}
