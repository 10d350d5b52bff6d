import { checkFilter } from '../../sources/ci-service/check-filter.ts'
import { checkRule, missingOptions } from '../../sources/ci-service/check-rule.ts'
import { updateBody, without } from '../../sources/ci-service/update-body.ts'
import { ANSWER_ONLY, BASIC_ONLY } from '../../domain/project-fields.ts'
import { applyChange, type ProjectChange } from '../../domain/project-change.ts'
import { differencesOf, type Difference } from '../../domain/project-differences.ts'
import { maskedSecrets, unsaidFields } from '../../domain/project-hidden.ts'
import type { FieldFault } from '../../domain/project.ts'
import { isRecord, listOf } from '../../domain/raw-values.ts'
import { commandsOfLines } from './commands.ts'

type Raw = Record<string, unknown>

/** The whole project as it shall be, or what keeps it from being sent. What was passed in is not touched. */
export function meantBy(
  raw: Raw,
  change: ProjectChange,
): { kind: 'meant'; raw: Raw } | { kind: 'faults'; faults: readonly FieldFault[] } {
  const { change: whole, faults: unreadable } = withHidden(raw, change)
  if (unreadable.length > 0) return { kind: 'faults', faults: unreadable }
  const effect = applyChange(raw, whole)
  if (effect.kind === 'faults') return effect
  const meant = asWritten(effect.raw)
  const faults = [...faultsOf(meant, whole), ...maskedSecrets(withoutAnswerOnly(meant))]
  return faults.length > 0 ? { kind: 'faults', faults } : { kind: 'meant', raw: meant }
}

/** What CI does not show of a project that is Basic, or is not, and what an update may so take away: fields by name. */
export const unshownIn = (raw: Raw, isBasic: boolean): string[] => [
  ...unsaidFields(raw, isBasic),
  ...listOf(raw['notification_rules']).flatMap((rule, at) =>
    isRecord(rule) ? missingOptions(rule).map((name) => `notification_rules[${at}].options.${name}`) : [],
  ),
]

const withoutAnswerOnly = (raw: Raw): Raw => without(raw, ANSWER_ONLY)

/** What differs to anybody's eye: that a list is empty, or not there, says the same. */
export const visibleDifferences = (before: Raw, after: Raw): Difference[] =>
  differencesOf(before, after).filter((one) => one.before !== null || one.after !== null)

/** The change with what was hidden where it was typed. */
function withHidden(raw: Raw, change: ProjectChange): { change: ProjectChange; faults: readonly FieldFault[] } {
  if (change.what !== 'setup') return { change, faults: [] }
  const { commands, faults } = commandsOfLines(change.commands, raw)
  return { change: { ...change, commands }, faults }
}

// Only what is changed is looked at: what CI has taken before may be more than we know.
function faultsOf(raw: Raw, change: ProjectChange): FieldFault[] {
  if (change.what === 'builds') return checkFilter(change.branches)
  if (change.what !== 'rule') return []
  const rules = listOf(raw['notification_rules'])
  const at = change.at ?? rules.length - 1
  const rule = rules[at]
  return isRecord(rule)
    ? checkRule(rule, 'update').map(({ field, reason }) => ({ field: `notification_rules[${at}].${field}`, reason }))
    : []
}

/** What an update leaves away of a project that is not Basic will not be there: it must not look as if it stayed. */
function asWritten(raw: Raw): Raw {
  const sent = updateBody(raw)
  if ([...BASIC_ONLY].every((name) => !(name in raw) || name in sent)) return raw
  // Not by its entries: what was a number beyond 2^53 is known by a symbol of the object.
  const { setup_commands: _setup, environment_variables: _variables, ...rest } = raw
  return rest
}
