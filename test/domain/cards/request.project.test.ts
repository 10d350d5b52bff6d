import { expect, test } from 'vitest'
import { isProjectRequest, PROJECT_ACTIONS } from '../../../src/domain/cards/request.ts'
import { request } from '../../support/build-events.ts'
import { projectRequest } from '../../store/given.ts'

test.each(PROJECT_ACTIONS)('%s is a request about a project', (action) => {
  expect(isProjectRequest(projectRequest({ action }))).toBe(true)
})

test.each(['stop', 'restart'] as const)('%s is a request about a build', (action) => {
  expect(isProjectRequest(request({ action }))).toBe(false)
})
