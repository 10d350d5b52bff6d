import type { Permit } from '../../slack/api/permission.ts'
import { counted } from '../../slack/messages/build.ts'
import type { Check, Finding, Verdict } from '../kit/check.ts'

/** A finding with its check. */
export type Found = Finding & Pick<Check, 'name' | 'title'>

export interface Examined {
  kind: 'findings'
  /** in the order of the checks */
  findings: readonly Found[]
  tookMs: number
}

export type DoctorOutcome =
  | Examined
  | { kind: 'forbidden'; permit: Extract<Permit, { kind: 'no' }> }
  | { kind: 'unknown-person'; code: string }

/** `2 things are wrong, and 1 needs a look.` Checks that gave no result are counted, so that they are not taken as fine. */
export function endWords(findings: readonly Finding[], strong = (words: string): string => words): string {
  const count = (verdict: Verdict) => findings.filter((one) => one.verdict === verdict).length
  const [faults, open] = [count('wrong'), count('unsure')]
  const found = faults === 0 ? 'Nothing is wrong' : `${counted(faults, 'thing')} ${faults === 1 ? 'is' : 'are'} wrong`
  const look = faults === 0 ? `, but ${counted(open, 'thing')}` : `, and ${open}`
  return `${strong(found)}${open === 0 ? '' : `${look} ${open === 1 ? 'needs' : 'need'} a look`}.`
}

/** `GitHub (GITHUB_REPOSITORIES) · GitLab (GITLAB_PROJECTS)`; empty: everything is set up. */
export const offWords = (findings: readonly Found[]): string =>
  findings
    .filter(({ verdict }) => verdict === 'off')
    .map(({ title, what }) => `${title} (${what})`)
    .join(' · ')
