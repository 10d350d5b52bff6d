import { toUuid, type Uuid } from '../../domain/ids.ts'
import { errorCode } from '../../lib/error-code.ts'
import { counted } from '../../slack/messages/build.ts'
import { certificateWords } from '../../slack/messages/words.ts'
import { CiError, type CiErrorKind } from '../../sources/http/errors.ts'
import { failureWords } from '../kit/fault-messages.ts'
import { fine, NO_PROJECT, off, unsure, type Check, type Examination, type Finding, type Say } from '../kit/check.ts'

const CI = { calls: 'CI', isOfCi: true }

interface Settings {
  address: string
  /** a wrong one makes its resources "not found" */
  organization?: string
  credentials: readonly string[]
}

const V2: Settings = {
  address: 'CI_BASE_URL',
  organization: 'CI_ORGANIZATION_UUID',
  credentials: ['CI_AUTHORIZATION', 'CI_CLIENT_SECRET'],
}
const LEGACY: Settings = { address: 'CI_LEGACY_BASE_URL', credentials: ['CI_API_KEY'] }
const SITE: Settings = { address: 'CI_SITE_URL', credentials: ['CI_SITE_URL'] }

/** Checks whether the projects can be listed through the v2 interface (`project.read`). */
export const v2: Check = {
  ...CI,
  name: 'ci-v2',
  title: 'CI, v2 interface',
  async run({ projects, say }) {
    const list = await projects()
    if (list === null) return [off(V2.address)]
    if (list instanceof CiError) return [refused(list, V2, say, 'project.read')]
    return [fine(`${counted(list.projects.length, 'project')} can be read.`), ...unread(list)]
  },
}

const unread = ({ skipped }: { skipped: number }): Finding[] =>
  skipped > 0 ? [unsure(`${counted(skipped, 'project')} in CI's list could not be read.`, 'The log names them.')] : []

/** The nil uuid, which no project and no build has. */
export const NOBODY = toUuid('00000000-0000-0000-0000-000000000000')

/**
 * Checks whether the credentials may change projects and stop builds. CI has no harmless request for that, so this
 * sends the real ones for a project and a build that cannot exist: without the right CI answers 403, with it "not
 * found" or "bad request". This is safe however CI is built: nothing has this uuid, so nothing can be replaced or
 * stopped, and the update names no repository, so no project can be created. It changes nothing, so it is not in the
 * audit.
 */
export const v2Scopes: Check = {
  ...CI,
  name: 'ci-v2-scopes',
  title: 'CI, rights to write',
  async run({ v2: client, signal, say }) {
    if (!client) return [off(V2.address)]
    const build = { projectUuid: NOBODY, buildUuid: NOBODY }
    const checked = await Promise.all([
      lacking('project.write', client.updateProject(NOBODY, { type: 'basic' }, signal), say),
      lacking('build.write', client.stopBuild(build, signal), say),
    ])
    const found = checked.filter((one) => one !== null)
    return found.length > 0 ? found : [fine('Projects can be changed and builds can be stopped.')]
  },
}

/** Null if the credentials have the right. */
const lacking = (scope: string, asked: Promise<unknown>, say: Say): Promise<Finding | null> =>
  asked.then(
    () => null,
    (error: unknown) => {
      const hasRight = error instanceof CiError && (error.kind === 'not-found' || error.kind === 'bad-request')
      return hasRight ? null : refused(error, V2, say, scope)
    },
  )

export const legacy: Check = {
  ...CI,
  name: 'ci-legacy',
  title: 'CI, legacy interface',
  async run({ legacyProjects, say }) {
    const list = await legacyProjects()
    if (list === null) return [off(LEGACY.address)]
    if (list instanceof CiError) return [refused(list, LEGACY, say)]
    return [fine(`${counted(list.projects.length, 'Basic project')} can be read.`), ...unread(list)]
  },
}

/** Checks whether the site draws the badge of an existing project. */
export const site: Check = {
  ...CI,
  name: 'site',
  title: 'CI, site',
  async run(examination) {
    const { badges, signal, say } = examination
    if (!badges) return [off(SITE.address)]
    const uuid = await anyProject(examination)
    if (uuid === null) return [NO_PROJECT]
    return badges.fetchBadge(uuid, null, signal).then(
      () => [fine('Badges can be read.')],
      (error: unknown) => [refused(error, SITE, say)],
    )
  },
}

async function anyProject({ projects, legacyProjects }: Examination): Promise<Uuid | null> {
  const lists = await Promise.all([projects(), legacyProjects()])
  const all = lists.flatMap((list): readonly { uuid: Uuid | null }[] =>
    list === null || list instanceof CiError ? [] : list.projects,
  )
  return all.find(({ uuid }) => uuid !== null)?.uuid ?? null
}

/** What CI's refusal means, and the remedy. Throws every error but a CiError. */
function refused(error: unknown, settings: Settings, say: Say, scope: string | null = null): Finding {
  if (!(error instanceof CiError)) throw error
  const { kind } = error
  return {
    verdict: verdictOf(error),
    ...(certificateIn(error, { server: 'CI', address: settings.address }, say) ?? {
      // A check may be of a right to write, which the words for reading do not fit.
      what: kind === 'forbidden' ? "Buildline's credentials lack a right." : failureWords(kind).why,
      remedy: remedyFor(kind, settings, scope, say),
    }),
  }
}

/** A temporary failure is not a misconfiguration. */
export const verdictOf = ({ kind }: CiError): 'wrong' | 'unsure' =>
  kind === 'timeout' || kind === 'server' || kind === 'rate-limited' ? 'unsure' : 'wrong'

export const certificateIn = (
  { kind, cause }: CiError,
  named: Parameters<typeof certificateWords>[1],
  say: Say,
): ReturnType<typeof certificateWords> =>
  kind === 'certificate' ? certificateWords(errorCode(cause) ?? undefined, named, say.code) : null

function remedyFor(
  kind: CiErrorKind,
  { address, organization, credentials }: Settings,
  scope: string | null,
  { code }: Say,
): string {
  const renewed = credentials.map(code).join(' or ')
  if (kind === 'unauthorized') return `Renew ${renewed} and restart Buildline.`
  if (kind === 'forbidden')
    return scope === null
      ? `Give the owner of ${renewed} access in CI.`
      : `Give the credentials the scope ${code(scope)} in CI.`
  if (kind === 'not-found' && organization) return `Check ${code(address)} and ${code(organization)}.`
  if (kind === 'rate-limited' || kind === 'server' || kind === 'timeout') return 'Try again in a few minutes.'
  return `Check ${code(address)}, and that this machine can reach it.`
}
