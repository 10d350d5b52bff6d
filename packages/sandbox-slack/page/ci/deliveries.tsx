import { useState } from 'preact/hooks'
import type { PanelDelivery } from '../../src/panel-state.ts'
import { usePanel } from '../panel/panel-store.ts'
import { useDeed } from '../panel/use-deed.ts'
import { Payload } from './payload.tsx'
import { Switch } from './push.tsx'

/** CI's deliveries. They can be viewed, and sent again in any order. */
export function Deliveries() {
  const deliveries = usePanel((state) => state.deliveries) ?? []
  const total = usePanel((state) => state.deliveriesTotal) ?? 0
  const [chosen, setChosen] = useState<readonly number[]>([])
  const [shown, setShown] = useState<number | null>(null)
  const choose = (n: number) => setChosen(chosen.includes(n) ? chosen.filter((one) => one !== n) : [...chosen, n])
  return (
    <section class="panel-part" aria-labelledby="ci-deliveries-title">
      <h3 id="ci-deliveries-title">
        Deliveries <span class="panel-note">{total} in all</span>
      </h3>
      <Switch pick={(state) => state.isHolding} bodyFor={(holdDeliveries) => ({ holdDeliveries })}>
        Hold new deliveries back, until they are sent from here
      </Switch>
      <SendMany chosen={chosen} onSent={() => setChosen([])} />
      <ul class="panel-list">
        {deliveries.map((delivery) => (
          <Row
            key={delivery.n}
            delivery={delivery}
            place={chosen.indexOf(delivery.n)}
            onChoose={() => choose(delivery.n)}
            onShow={() => setShown(delivery.n)}
          />
        ))}
      </ul>
      {total > deliveries.length && <p class="panel-note">… and {total - deliveries.length} older ones.</p>}
      {shown !== null && <Payload n={shown} onClose={() => setShown(null)} />}
    </section>
  )
}

/** Sends the chosen deliveries in the order in which they were chosen. */
function SendMany({ chosen, onSent }: { chosen: readonly number[]; onSent: () => void }) {
  const untaken = usePanel((state) => state.untaken) ?? []
  const { deed, isBusy } = useDeed()
  const again = async (order: readonly number[]) => {
    if (await deed('ci/deliveries/resend', { order })) onSent()
  }
  return (
    <div class="panel-row ci-send" role="group" aria-label="Send several">
      {chosen.length > 0 && (
        <button class="button panel-small" type="button" disabled={isBusy} onClick={() => void again(chosen)}>
          Send the {chosen.length} chosen, in this order
        </button>
      )}
      {untaken.length > 0 && (
        <>
          <button class="button panel-small" type="button" disabled={isBusy} onClick={() => void again(untaken)}>
            Send the {untaken.length} not taken, oldest first
          </button>
          <button
            class="button panel-small"
            type="button"
            disabled={isBusy}
            onClick={() => void again(untaken.toReversed())}
          >
            … newest first
          </button>
        </>
      )}
    </div>
  )
}

interface RowProps {
  delivery: PanelDelivery
  /** its place in the sending order; -1: not chosen */
  place: number
  onChoose: () => void
  onShow: () => void
}

function Row({ delivery, place, onChoose, onShow }: RowProps) {
  const { n, project, buildId, status } = delivery
  const { deed, isBusy } = useDeed()
  const name = `delivery ${n}: ${project} #${buildId} ${status}`
  return (
    <li class="ci-delivery">
      <label class="panel-check">
        <input type="checkbox" checked={place >= 0} onChange={onChoose} />
        <span>
          {place >= 0 && <strong class="ci-place">{place + 1}.</strong>} <span class="hidden">Choose delivery</span> {n}{' '}
          <strong>
            {project} #{buildId}
          </strong>{' '}
          {status}
        </span>
      </label>
      <span class={`ci-answer ${delivery.isTaken ? 'taken' : delivery.state}`}>{answerWords(delivery)}</span>
      <div class="panel-row ci-buttons">
        <button class="button panel-small" type="button" onClick={onShow}>
          Look<span class="hidden"> at {name}</span>
        </button>
        <button
          class="button panel-small"
          type="button"
          disabled={isBusy}
          onClick={() => void deed(`ci/deliveries/${n}/resend`)}
        >
          Send again<span class="hidden"> {name}</span>
        </button>
      </div>
    </li>
  )
}

function answerWords({ state, answer, attempts }: PanelDelivery): string {
  if (state === 'held') return 'held back'
  if (state === 'dropped') return 'dropped'
  const tries = attempts > 1 ? `, ${attempts} times` : ''
  if (answer === null) return 'under way'
  return typeof answer === 'number' ? `${answer}${tries}` : `no answer (${answer})${tries}`
}
