import { createHash } from 'node:crypto'
import { fieldOf } from '../../domain/raw-values.ts'
import { textOf } from '../../slack/api/answer.ts'
import { plain, type Block, type Plain } from '../../slack/messages/blocks.ts'
import { cut } from '../../slack/messages/limits.ts'
import { escapePlain, toLine } from '../../lib/escape.ts'
import type { ProjectRef } from '../../catalog/outcomes.ts'
import type { ModalView } from '../modal-view.ts'

// The modal "Find a build": a project, a branch, and below them the last build with its buttons.

export const FIND_CALLBACK_ID = 'find_build'
export const FIND_PROJECT_ID = 'find_project'
export const FIND_BRANCH_ID = 'find_branch'
export const FIND_ACTION_IDS: ReadonlySet<string> = new Set([FIND_PROJECT_ID, FIND_BRANCH_ID])

/** The blocks of the form, which stay when an answer changes. */
export const FIND_BLOCKS = /^find_/

/** Slack shows so many options of a menu. */
export const OPTIONS_MAX = 100
/** An option's value, in characters: a cut name would be another name, so what is longer is left out. */
export const OPTION_VALUE_CHARS_MAX = 150
/** An option's text, in code points; Slack takes 75 characters, and escaping can lengthen it. */
export const OPTION_TEXT_POINTS_MAX = 60

/** The project and branch that are chosen. `project`: a uuid, CI's id or a name. */
export interface Chosen {
  project: string
  branch: string | null
}

export interface FindForm {
  chosen: Chosen | null
  branches: readonly string[]
  /** the answer below the form */
  answer: readonly Block[]
}

export const findView = ({ chosen, branches, answer }: FindForm): ModalView =>
  findModal({
    blocks: [projectBlock, ...(chosen ? [branchBlock(chosen, branches)] : []), ...answer],
    metadata: chosen ? JSON.stringify({ project: chosen.project }) : '',
  })

/** @param metadata what the modal remembers, as `chosenProject` reads it */
export const findModal = ({ blocks, metadata }: { blocks: readonly object[]; metadata: string }): ModalView => ({
  type: 'modal',
  callback_id: FIND_CALLBACK_ID,
  title: plain('Find a build'),
  close: plain('Close'),
  private_metadata: metadata,
  blocks,
})

/** The project that the modal remembers; null for what is not ours. */
export function chosenProject(metadata: string): string | null {
  try {
    return textOf(fieldOf(JSON.parse(metadata), 'project'))
  } catch {
    return null
  }
}

const projectBlock = {
  type: 'section',
  block_id: 'find_project',
  text: plain('Project'),
  accessory: {
    type: 'external_select',
    action_id: FIND_PROJECT_ID,
    placeholder: plain('Choose a project'),
    // Without it Slack asks us only from three letters on.
    min_query_length: 0,
  },
}

function branchBlock({ project, branch }: Chosen, branches: readonly string[]): object {
  const options = [ANY, ...branches.flatMap(branchOption)].slice(0, OPTIONS_MAX)
  return {
    type: 'section',
    // Another project has other branches: under the same id Slack would keep what was chosen before.
    block_id: `find_branch_${createHash('sha256').update(project).digest('hex').slice(0, 12)}`,
    text: plain('Branch'),
    accessory: {
      type: 'static_select',
      action_id: FIND_BRANCH_ID,
      options,
      initial_option: options.find(({ value }) => value === valueOf(branch)) ?? ANY,
    },
  }
}

export interface Option {
  text: Plain
  value: string
}

const ANY: Option = { text: plain('Any branch'), value: 'any' }

const BRANCH = 'branch:'

const valueOf = (branch: string | null): string => (branch === null ? ANY.value : BRANCH + branch)

/** The branch that an option means; null: any. */
export const branchOf = (value: string): string | null =>
  value.startsWith(BRANCH) ? value.slice(BRANCH.length) || null : null

const branchOption = (branch: string): Option[] => option(branch, valueOf(branch))

/** What the menu of projects offers. */
export const projectOptions = (projects: readonly ProjectRef[]): Option[] =>
  projects.flatMap(({ name, uuid, projectId }) => option(name, uuid ?? projectId ?? name)).slice(0, OPTIONS_MAX)

/** One project as an option; null where it cannot be one. */
export const projectOption = (project: ProjectRef): Option | null => projectOptions([project])[0] ?? null

/** What stands for every project. */
export const ALL_PROJECTS: Option = { text: plain('All projects'), value: 'all' }

function option(name: string, value: string): Option[] {
  const text = escapePlain(cut(toLine(name), OPTION_TEXT_POINTS_MAX))
  return text === '' || value.length > OPTION_VALUE_CHARS_MAX ? [] : [{ text: plain(text), value }]
}
