import type { Reason } from '../../domain/rules/decide.ts'
import { outside } from '../../slack/messages/build.ts'
import { WORD_CHARS_MAX } from '../../slack/messages/limits.ts'

/** Why a channel was or was not sent an event. */
export const reasonWords = (reason: string): string =>
  isReason(reason) ? REASONS[reason] : `Reason: ${shown(reason)}.`

const isReason = (reason: string): reason is Reason => Object.hasOwn(REASONS, reason)

const shown = (word: string): string => outside(word, WORD_CHARS_MAX) || '(none)'

const REASONS: Record<Reason, string> = {
  'event-selected': 'A rule selects this event on this branch.',
  'every-event': 'This channel follows every event.',
  'rules-unread': "The project's rules could not be read, so every event was posted.",
  'account-notice': "It concerns the CI account, not the commit, so it is part of that day's account notice.",
  'updates-card': 'No rule selects it, but the card was there and shows the newest state.',
  'event-not-selected': 'No rule selects this event on this branch.',
  'branch-not-matched': 'No rule covers this branch.',
  'branch-unknown': 'CI named no branch, but the rules require one.',
  'pattern-invalid': 'The branch pattern of a rule is invalid, and so matches nothing.',
  duplicate: 'CI reported this before: nothing changed.',
  late: 'It arrived after the run had ended, so it changes nothing.',
  history:
    'CI had the build before Buildline first looked at the project, or it ended more than a day before Buildline learned of it.',
}
