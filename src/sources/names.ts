import { CiError } from './http/errors.ts'

// The names of repositories and projects become parts of addresses. `.` and `..` would lead to another address there.

/** `acme/web`: an owner and a repository of GitHub, in the characters that GitHub allows. */
export const isRepositoryName = (name: string): boolean => REPOSITORY.test(name)

const REPOSITORY = /^(?!\.{1,2}\/)[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/

/** `acme/tools/web`: a project of GitLab below at least one group, in the characters that GitLab allows. */
export const isProjectPath = (path: string): boolean => PROJECT.test(path)

const PROJECT = /^(?:(?!\.{1,2}\/)[\w.-]+\/)+(?!\.{1,2}$)[\w.-]+$/

/** The name, if it is one. Throws a CiError otherwise: nothing is sent. */
export function checkedName(name: string, isName: (name: string) => boolean): string {
  if (isName(name)) return name
  throw new CiError({ kind: 'bad-request', purpose: 'call a project by its name', isUndone: true })
}
