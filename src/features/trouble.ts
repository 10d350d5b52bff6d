import { outside } from '../slack/messages/build.ts'
import { MESSAGE_CHARS_MAX } from '../slack/messages/limits.ts'
import type { CiTrouble } from '../catalog/outcomes.ts'
import { answerTrouble, type Answer } from '../slack/messages/answer.ts'
import { troubleWords } from './codes.ts'

/** CI could not be asked. `what`: what did not work, a whole line of markup. */
export function answerCiTrouble({ code, reason }: CiTrouble, what: string, reference: string): Answer {
  const { why, next } = troubleWords(code)
  return answerTrouble({ what, why: [why, ...ciSaid(reason)], next }, reference)
}

/** CI's own words, where it gave any. */
export function ciSaid(reason: string | null): string[] {
  const said = outside(reason, MESSAGE_CHARS_MAX)
  return said === '' ? [] : [`CI said: ${said}`]
}
