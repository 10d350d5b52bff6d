import { findProject } from '../../catalog/projects.ts'
import type { Uuid } from '../../domain/ids.ts'
import type { Asker, Refused } from '../../catalog/outcomes.ts'
import type { Begun, Creation, EditQuestion } from './outcomes.ts'

import { createProject, previewCreation } from './create.ts'
import type { ProjectDeps } from './deps.ts'
import { editProject } from './edit.ts'
import { refusalOf } from './permitted.ts'
import { previewEdit } from './prepare.ts'
import { resetAesKey } from './reset.ts'
import { showProject } from './show.ts'

/** Everything that can be done with a project. */
export const createProjectOperations = (deps: ProjectDeps) => ({
  /** The one project that a text names, of those that are known. */
  find: (text: string) => findProject(deps.store.read, text),
  /** Reads the project afresh from CI; as last read where CI cannot be asked. */
  show: (project: string, by: Pick<Asker, 'user' | 'team'>) => showProject(deps, project, by),
  /** May this person create, edit and reset? */
  mayAdminister: async (by: Pick<Asker, 'user' | 'team'>): Promise<{ kind: 'yes' } | Refused> =>
    (await refusalOf(deps, by)) ?? { kind: 'yes' },
  /** What would change; sends nothing. */
  preview: (question: EditQuestion, by: Asker) => previewEdit(deps, question, by),
  /** Read, change, write back in full, read again, compare. At most one write for one request. */
  edit: (question: EditQuestion, by: Asker, begun?: Begun) => editProject(deps, question, by, begun),
  /** Whether one of that name is there already; creates nothing. */
  previewCreation: (creation: Creation, by: Asker) => previewCreation(deps, creation, by),
  create: (creation: Creation, by: Asker, options: { evenIfThere: boolean; begun?: Begun }) =>
    createProject(deps, creation, by, options),
  resetAesKey: (project: Uuid, by: Asker, begun?: Begun) => resetAesKey(deps, project, by, begun),
})
