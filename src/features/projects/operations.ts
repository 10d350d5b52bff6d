import { findProject } from '../../catalog/projects.ts'
import type { ProjectOperations } from './outcomes.ts'
import { createProject, previewCreation } from './create.ts'
import type { ProjectDeps } from './deps.ts'
import { editProject } from './edit.ts'
import { refusalOf } from './permitted.ts'
import { previewEdit } from './prepare.ts'
import { resetAesKey } from './reset.ts'
import { showProject } from './show.ts'

/** Everything that can be done with a project. */
export const createProjectOperations = (deps: ProjectDeps): ProjectOperations => ({
  find: (text) => findProject(deps.store.read, text),
  show: (project, by) => showProject(deps, project, by),
  mayAdminister: async (by) => (await refusalOf(deps, by)) ?? { kind: 'yes' },
  preview: (question, by) => previewEdit(deps, question, by),
  edit: (question, by, begun) => editProject(deps, question, by, begun),
  previewCreation: (creation, by) => previewCreation(deps, creation, by),
  create: (creation, by, options) => createProject(deps, creation, by, options),
  resetAesKey: (project, by, begun) => resetAesKey(deps, project, by, begun),
})
