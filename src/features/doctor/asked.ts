import type { CiErrorKind } from '../../sources/ci-service/errors.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { Permit } from '../../domain/permission.ts'

// What is examined, and what can be found. Words for it stand on another floor.

/** What can be misconfigured, in the order in which it is told. */
export const CHECKS = [
  'slack-token',
  'slack-scopes',
  'socket-mode',
  'clock',
  'channels',
  'ci-v2',
  'ci-v2-scopes',
  'ci-legacy',
  'site',
  'webhook-rules',
  'silent-projects',
  'store',
] as const

export type CheckName = (typeof CHECKS)[number]

/** `wrong`: somebody has to mend it. `unsure`: it could not be checked. `off`: it is not set up, which may be meant. */
export type Verdict = 'fine' | 'wrong' | 'unsure' | 'off'

/** What one check found; a check has one finding or several. */
export interface Finding {
  verdict: Verdict
  check: CheckName
  what: Found
}

/** No secret; outside text only in `project`, `branch` and `events`. */
export type Found =
  /** `count`: how many channels, projects or scopes were looked at, where that says something */
  | { kind: 'fine'; count: number | null }
  | { kind: 'not-configured' }
  /** without an app token Slack comes to our door */
  | { kind: 'over-http' }
  | { kind: 'slack-refuses'; code: string }
  | { kind: 'slack-away'; code: string }
  | { kind: 'scopes-missing'; scopes: readonly string[] }
  | { kind: 'nobody-follows' }
  | { kind: 'channel-closed'; channel: ChannelId; code: string }
  /** `scope`: what the credentials were asked for, where that is known */
  | { kind: 'ci-refuses'; code: CiErrorKind; scope: string | null }
  /** CI lists projects, and they could not all be read */
  | { kind: 'projects-unread'; count: number }
  | { kind: 'no-webhook-rule'; project: string }
  /** it has a rule to Buildline's path, with a secret that is none of ours */
  | { kind: 'webhook-secret'; project: string }
  /** its rules leave these events away, or, where `branch` is set, other branches */
  | { kind: 'webhook-filtered'; project: string; events: readonly string[]; branch: string | null }
  /** CI has a newer build than what was heard last, or nothing was ever heard (ms) */
  | { kind: 'silent-project'; project: string; lastAt: number | null; builtAt: number | null }
  /** by how much our clock is ahead of Slack's */
  | { kind: 'clock-off'; ms: number }
  | { kind: 'no-database' }
  | { kind: 'store-fails'; code: string }
  | { kind: 'store-slow'; ms: number }
  | { kind: 'disk-full'; freeBytes: number }
  | { kind: 'not-checked'; why: Unchecked }
  /** further findings like the one before */
  | { kind: 'more'; count: number }

/** Why something could not be checked. */
export type Unchecked =
  /** nobody answered in time */
  'late' | 'slack-away' | 'ci-away' | 'no-v2' | 'no-project' | 'store-fails' | 'not-said' | 'too-many' | 'fault'

export interface Examined {
  kind: 'findings'
  /** in the order of CHECKS; each check has at least one */
  findings: readonly Finding[]
  tookMs: number
}

export type DoctorOutcome =
  | Examined
  | { kind: 'forbidden'; permit: Extract<Permit, { kind: 'no' }> }
  | { kind: 'unknown-person'; code: string }
