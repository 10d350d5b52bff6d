import type { ProjectCreation } from '../../domain/project.ts'
import type { UnauthorizedRequest } from './auth.ts'
import { secretsIn } from './body-secrets.ts'
import { CREATION_FORMS, creationBody } from './creation-body.ts'
import type { CreationForms } from './creation-body.ts'
import { updateBody } from './update-body.ts'

/** The largest project that is read from the answer to a write; a larger one counts as not said. */
export const WRITTEN_BYTES_MAX = 4 * 1024 * 1024

/** E3. */
export const creationRequest = (
  url: URL,
  creation: ProjectCreation,
  forms: Partial<CreationForms>,
): UnauthorizedRequest =>
  writing({
    method: 'POST',
    url,
    body: JSON.stringify(creationBody(creation, { ...CREATION_FORMS, ...forms })),
    purpose: 'create a project',
    secrets: secretsIn(creation),
  })

/** E4. Its secrets are all of the project's: CI may quote what was not sent, too. */
export const updateRequest = (url: URL, project: Record<string, unknown>): UnauthorizedRequest =>
  writing({
    method: 'PUT',
    url,
    body: JSON.stringify(updateBody(project)),
    purpose: 'update a project',
    secrets: secretsIn(project),
  })

/** E5. */
export const resetRequest = (url: URL): UnauthorizedRequest =>
  writing({ method: 'POST', url, body: '{}', purpose: 'reset an AES key' })

// A 2xx has done it, whatever becomes of the body.
const writing = (request: UnauthorizedRequest): UnauthorizedRequest => ({
  ...request,
  headers: { 'content-type': 'application/json' },
  statusSuffices: true,
  responseBytesMax: WRITTEN_BYTES_MAX,
})
