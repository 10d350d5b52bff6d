import { onTestFinished } from 'vitest'
import { HEALTHY } from '../../../packages/demo/src/samples/healthy.ts'
import { examine } from '../../../src/features/doctor/examine.ts'
import type { Check, DoctorDeps, Found } from '../../../src/features/doctor/findings.ts'
import { IN_PLAIN_TEXT } from '../../../src/features/doctor/say.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createTransport, type Transport } from '../../../src/sources/http/transport.ts'

/** Each finding as `wrong: what. remedy`. */
export const linesOf = (findings: readonly Found[]): string[] =>
  findings.map(({ verdict, what, remedy }) => [`${verdict}: ${what}`, remedy ?? ''].join(' ').trim())

/** What one check finds where only this is not in order. */
export async function said(check: Check, changes: Partial<DoctorDeps> = {}): Promise<string[]> {
  const { findings } = await examine({ ...HEALTHY, ...changes }, IN_PLAIN_TEXT, [check])
  return linesOf(findings)
}

/** Ends with the test. */
export function openTransport(): Transport {
  const transport = createTransport({ clock: systemClock })
  onTestFinished(() => transport.close())
  return transport
}
