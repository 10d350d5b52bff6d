import { isIdDigits } from '../../domain/ids.ts'
import { MASK } from '../../domain/project-fields.ts'
import { checkedIn, checksField, chosenIn, choiceField, fieldOption, linesIn, textField, typedIn } from '../fields.ts'

// The inputs that the forms to create and to edit a project share: how each is drawn, and how it is read. Its block is named
// after the form and the field, such as `create:team_ids`.

type FormName = 'create' | 'edit'

interface Input<Value, Read = Value> {
  draw(form: FormName, value: Value): object
  read(body: unknown, form: FormName): Read
}

export const typeInput: Input<string | null, 'basic' | 'pro'> = {
  draw: (form, type) =>
    choiceField(
      { block: `${form}:type`, label: 'Type', ...(form === 'edit' && { hint: TYPE_CHANGES }) },
      [fieldOption('Basic', 'basic'), fieldOption('Pro', 'pro')],
      type?.toLowerCase() ?? null,
    ),
  read: (body, form) => (chosenIn(body, `${form}:type`) === 'pro' ? 'pro' : 'basic'),
}

const TYPE_CHANGES =
  'A project that becomes Pro loses its setup commands and environment variables; one that becomes Basic, its AES key.'

export const teamsInput: Input<readonly string[]> = {
  draw: (form, ids) =>
    textField(
      { block: `${form}:team_ids`, label: 'Team ids', hint: 'Numbers, parted by blanks.', isOptional: true },
      { initial: ids.join(' ') },
    ),
  read: (body, form) =>
    typedIn(body, `${form}:team_ids`)
      .split(/[\s,;]+/)
      .filter((id) => id !== ''),
}

export const teamFaults = (ids: readonly string[]): string[] =>
  ids.every(isIdDigits) ? [] : ['team ids are whole numbers, parted by blanks']

export const pullRequestsInput: Input<boolean> = {
  draw: (form, isOnly) =>
    checksField(
      { block: `${form}:build_on_pr_only`, label: 'Pull requests', isOptional: true },
      [fieldOption('Build only pull requests', 'only')],
      isOnly ? ['only'] : [],
    ),
  read: (body, form) => checkedIn(body, `${form}:build_on_pr_only`).includes('only'),
}

export const branchMatchInput: Input<string | null, 'include' | 'exclude'> = {
  draw: (form, match) =>
    choiceField(
      { block: `${form}:branch_match`, label: 'The branches below are' },
      [
        fieldOption('the only ones that are built', 'include'),
        fieldOption('the only ones that are not built', 'exclude'),
      ],
      match?.trim().toLowerCase() ?? 'include',
    ),
  read: (body, form) => (chosenIn(body, `${form}:branch_match`) === 'exclude' ? 'exclude' : 'include'),
}

export const branchesInput: Input<readonly string[]> = {
  draw: (form, branches) =>
    textField(
      {
        block: `${form}:branches`,
        label: 'Branches',
        hint: 'One a line: a full name, or a regular expression from ^ to $. None: every branch is built.',
        isOptional: true,
      },
      { initial: branches.join('\n'), isLong: true },
    ),
  read: (body, form) => linesIn(body, `${form}:branches`),
}

export const setupInput: Input<readonly string[]> = {
  draw: (form, commands) =>
    textField(
      {
        block: `${form}:setup_commands`,
        ...(form === 'create'
          ? { label: 'Setup commands (Basic)', hint: 'One a line.' }
          : { label: 'Setup commands', hint: SETUP_STAYS }),
        isOptional: true,
      },
      { initial: commands.join('\n'), isLong: true },
    ),
  read: (body, form) => linesIn(body, `${form}:setup_commands`),
}

const SETUP_STAYS = `One a line. A line with ${MASK} or ⏎ stands for the command as it is, as long as the line is left as it is.`
