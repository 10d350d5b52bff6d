import { useEffect, useRef, useState } from 'preact/hooks'
import { useDeed } from '../panel/use-deed.ts'
import { Dialog } from '../workspace/dialog.tsx'

interface Whole {
  body: string
  attempts: ({ at: number; ms: number } & (
    | { kind: 'answered'; statusCode: number; body: string }
    | { kind: 'failed'; errorCode: string }
  ))[]
}

/** A delivery as it was sent, and every answer to it. */
export function Payload({ n, onClose }: { n: number; onClose: () => void }) {
  const [whole, setWhole] = useState<Whole | null>(null)
  const close = useRef<HTMLButtonElement>(null)
  const { deed, isBusy } = useDeed()
  const load = () => void read(n).then(setWhole)
  useEffect(load, [n])
  const again = async () => {
    if (await deed(`ci/deliveries/${n}/resend`)) load()
  }
  return (
    <Dialog id="payload" labelledBy="payload-title" focusFirst={close} onClose={onClose} isLight>
      <h2 id="payload-title">Delivery {n}</h2>
      <p class="panel-note">POST, application/json, as it was sent:</p>
      <pre class="ci-payload" tabIndex={0} aria-label="The body">
        {whole === null ? '…' : pretty(whole.body)}
      </pre>
      <h3>Answers</h3>
      <ol class="ci-answers">
        {whole?.attempts.map((attempt) => (
          <li key={attempt.at}>
            {attempt.kind === 'answered' ? `${attempt.statusCode} ${attempt.body}` : `none: ${attempt.errorCode}`} ·
            after {attempt.ms} ms
          </li>
        ))}
        {whole?.attempts.length === 0 && <li>none yet</li>}
      </ol>
      <p class="answers">
        <button class="button" type="button" disabled={isBusy} onClick={() => void again()}>
          Send again
        </button>
        <button ref={close} class="button primary filled" type="button" onClick={onClose}>
          Close
        </button>
      </p>
    </Dialog>
  )
}

async function read(n: number): Promise<Whole | null> {
  try {
    const response = await fetch(`/sandbox/ci/deliveries/${n}`)
    return response.ok ? await response.json() : null
  } catch {
    return null
  }
}

// Only adds line breaks. Parsing the JSON would round ids beyond 2^53.
function pretty(body: string): string {
  return body.replaceAll(/(?<=[{,])(?="(?:[^"\\]|\\.)*":)/g, '\n  ').replaceAll(/}+$/g, '\n$&')
}
