import { useState } from 'preact/hooks'
import { useActs } from '../store/workspace.tsx'

/** Makes a call of the panels. Shows errors in the line at the top. `isBusy` is true until the answer arrives. */
export function useDeed() {
  const { tell } = useActs()
  const [isBusy, setBusy] = useState(false)
  const deed = async (path: string, body: unknown = {}): Promise<boolean> => {
    setBusy(true)
    const faults = await send(path, body)
    setBusy(false)
    tell(faults.length === 0 ? null : `That did not work: ${faults.join('; ')}.`)
    return faults.length === 0
  }
  return { deed, isBusy }
}

/** Makes a call. Returns its errors; none if it succeeded. */
export async function send(path: string, body: unknown): Promise<string[]> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  try {
    const response = await fetch(`/sandbox/${path}`, request)
    if (response.ok) return []
    const { errors = [] }: { errors?: string[] } = await response.json()
    return errors.length > 0 ? errors : [`the sandbox answered ${response.status}`]
  } catch {
    return ['the sandbox does not answer']
  }
}
