import { usePanel } from '../panel/panel-store.ts'
import { secondsWords } from './figures.tsx'

/** All figures, a sentence for each missing, surplus or wrong card, and how the figures are counted. */
export function StandingPart() {
  const watched = usePanel((state) => state.watched)
  const notes = usePanel((state) => state.service.notes)
  if (watched === null) return null
  const { standing, lag, queue } = watched
  const sentences = [...standing.lost, ...standing.doubled, ...standing.wrong]
  return (
    <section class="panel-part" aria-labelledby="standing-title">
      <h3 id="standing-title">What CI sent, and what #builds shows</h3>
      <dl class="standing">
        <Figure name="lost" value={standing.lost.length} />
        <Figure name="doubled" value={standing.doubled.length} />
        <Figure name="wrong" value={standing.wrong.length} />
        <Figure name="right" value={standing.right} />
        <Figure name="recorded, not shown yet" value={standing.onTheWay} />
        <Figure name="not taken yet" value={standing.notTaken} />
        <Figure name="not counted" value={standing.notCounted} />
        <Figure name="lag (median)" value={secondsWords(lag.medianMs)} />
        <Figure name="oldest not shown yet" value={secondsWords(lag.oldestMs)} />
        <Figure name="to take in" value={queue?.ingest ?? '–'} />
        <Figure name="to post" value={queue?.post ?? '–'} />
        <Figure name="to edit" value={queue?.edit ?? '–'} />
        <Figure name="looking for a message" value={queue?.look ?? '–'} />
      </dl>
      {sentences.length > 0 && (
        <ul class="standing-list">
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      <p class="panel-note">
        Counted twice a second from CI&apos;s deliveries and the messages of #builds: one card for each commit and
        branch, in its newest state, and one reply for each run that ended. Lost is what the bot took, is done with, and
        Slack does not show. Slack takes three messages at once in a channel and then one a second, so a storm is on its
        way for a while. Builds of a project are not counted once somebody gives #builds rules for it. {notes}
      </p>
    </section>
  )
}

const Figure = ({ name, value }: { name: string; value: number | string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)
