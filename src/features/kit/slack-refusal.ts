import { EMAIL_SCOPE, SCOPES } from '../../slack/api/examiner.ts'
import type { SlackTrouble } from '../../slack/api/errors.ts'
import { wrong, type DoctorDeps, type Examination, type Finding } from './check.ts'
import type { Say } from './say.ts'

// What a check finds if Slack refuses its call.

export const notAccepted = (what: string, say: Say): Finding =>
  wrong(what, `Install the app in Slack again and set its bot token as ${say.code('SLACK_BOT_TOKEN')}.`)

/** The scopes in the manifest, and the one for PEOPLE_BY_EMAIL if that is set. */
export const scopesNeeded = ({ asksByEmail }: DoctorDeps['config']): readonly string[] =>
  asksByEmail ? [...SCOPES, EMAIL_SCOPE] : SCOPES

export function lacks(missing: readonly string[], say: Say): Finding {
  const listed = missing.map(say.code).join(', ')
  return wrong(
    `The token lacks ${listed}.`,
    // The manifest lacks scopes that only a setting needs, so pasting it again would not help.
    missing.includes(EMAIL_SCOPE)
      ? `Add ${listed} under OAuth & Permissions in the app's settings in Slack, and reinstall the app; ${say.code(EMAIL_SCOPE)} is for ${say.code('PEOPLE_BY_EMAIL')}.`
      : UPDATE_APP,
  )
}

const UPDATE_APP = "Paste manifest.yml into the app's settings in Slack again, and reinstall the app."

/** Slack refuses a call of another check. */
export function refusedBySlack({ code, needed }: SlackTrouble, { config, say }: Examination): Finding {
  if (code !== 'missing_scope') return notAccepted(`Slack refuses (${say.outside(code)}).`, say)
  // Slack names every scope that would suffice, even those that the app does not use.
  const ours = needed?.filter((scope) => scopesNeeded(config).includes(scope)) ?? []
  return ours.length > 0
    ? lacks(ours, say)
    : wrong(`A scope is missing for this check (${say.outside(code)}).`, UPDATE_APP)
}
