import { createHash } from 'node:crypto'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { plain, type Block } from '../../slack/messages/blocks.ts'
import { type FieldOption, menuOption, OPTIONS_MAX } from '../kit/fields.ts'
import { formView, type ModalView } from '../kit/modal.ts'

// The modal "Find a build": a project, a branch, and below them the last build with its buttons.

export const FIND_CALLBACK_ID = 'find_build'
export const FIND_PROJECT_ID = 'find_project'
export const FIND_BRANCH_ID = 'find_branch'

/** The block ids of the form itself. These blocks stay when the answer below them changes. */
export const FIND_BLOCKS = /^find_/

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
export const findModal = ({ blocks, metadata }: { blocks: readonly object[]; metadata: string }): ModalView =>
  formView({
    id: FIND_CALLBACK_ID,
    title: 'Find a build',
    close: 'Close',
    metadata,
    blocks,
  })

/** The project in the modal's metadata; null if it cannot be read. */
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
    // By default, Slack requests options only after three typed characters.
    min_query_length: 0,
  },
}

function branchBlock({ project, branch }: Chosen, branches: readonly string[]): object {
  const options = [ANY, ...branches.flatMap(branchOption)].slice(0, OPTIONS_MAX)
  return {
    type: 'section',
    // Another project has other branches. With the same block id, Slack would keep the earlier choice.
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

const ANY: FieldOption = { text: plain('Any branch'), value: 'any' }

const BRANCH = 'branch:'

const valueOf = (branch: string | null): string => (branch === null ? ANY.value : BRANCH + branch)

/** The branch of an option's value; null: any branch. */
export const branchIn = (value: string): string | null =>
  value.startsWith(BRANCH) ? value.slice(BRANCH.length) || null : null

const branchOption = (branch: string): FieldOption[] => menuOption(branch, valueOf(branch))
