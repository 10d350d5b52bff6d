import { z } from 'zod'
import { faultReasons } from '../../lib/reasons.ts'

/** How long a build takes by default. */
const BUILD_MS = 4_000
const DAY_MS = 86_400_000

/** How the sandbox behaves where the interface leaves it open. Every default is the simplest interpretation. */
const switchesSchema = z.strictObject({
  // E2
  listForm: z.enum(['array', 'envelope', 'link']).default('array'),
  perPageDefault: z.int().min(1).max(1000).default(30),
  perPageMax: z.int().min(1).max(1000).default(100),
  // E3, E4, E5
  createStatusCode: z.union([z.literal(200), z.literal(201)]).default(201),
  createdProjectForm: z.enum(['wrapped', 'bare']).default('wrapped'),
  updatedProjectForm: z.enum(['wrapped', 'bare']).default('bare'),
  createRuleNames: z.enum(['any', 'target', 'email_target']).default('any'),
  updateOptionsForm: z.enum(['nested', 'any']).default('nested'),
  ruleWithoutStatuses: z.enum(['refuse', 'every-event']).default('refuse'),
  unknownNotifiers: z.enum(['keep', 'refuse']).default('keep'),
  deploymentForm: z.enum(['any', 'table', 'example']).default('any'),
  proBasicFields: z.enum(['ignore', 'refuse']).default('ignore'),
  resetAesKeyForm: z.enum(['bare', 'wrapped', 'aes_key', 'empty']).default('bare'),
  unshownScope: z.enum(['project.write', 'any']).default('project.write'),
  // errors, credentials, limits
  errorForm: z.enum(['errors', 'error', 'text', 'html', 'empty']).default('errors'),
  invalidStatusCode: z.union([z.literal(400), z.literal(422)]).default(400),
  authorizationForm: z.enum(['any', 'bearer', 'bare']).default('any'),
  tokenLifetimeMs: z.int().min(1).max(DAY_MS).default(3_600_000),
  rateLimit: z.enum(['off', '429', '403']).default('off'),
  rateLimitRequestsMax: z.int().min(0).default(60),
  rateLimitWindowMs: z.int().min(1).max(DAY_MS).default(60_000),
  // ids and words
  bigIds: z.boolean().default(false),
  idsAsStrings: z.boolean().default(false),
  legacyStatusWords: z.enum(['documented', 'synonyms']).default('documented'),
  deliveryStatusWords: z.enum(['documented', 'synonyms']).default('documented'),
  // E7, E8, E9
  legacyProjectForm: z.enum(['bare', 'wrapped']).default('bare'),
  legacyBuildsOrder: z.enum(['newest-first', 'oldest-first']).default('newest-first'),
  restartKeepsId: z.boolean().default(true),
  restartStatusCode: z.union([z.literal(200), z.literal(201), z.literal(202)]).default(200),
  restartOutcome: z.enum(['same', 'success', 'error', 'stopped', 'infrastructure_failure', 'none']).default('success'),
  // builds
  timeScale: z.number().min(0).max(1000).default(1),
  buildMs: z.int().min(0).max(DAY_MS).default(BUILD_MS),
  stopMs: z.int().min(0).max(DAY_MS).default(50),
  stopStatus: z.enum(['stopped', 'error']).default('stopped'),
  stopIsForgotten: z.boolean().default(false),
  overLimit: z.boolean().default(false),
  blocked: z.boolean().default(false),
  // badge
  badgeWords: z.enum(['words', 'statuses']).default('words'),
  badgeUnknownProject: z.union([z.literal(404), z.literal(200)]).default(404),
  // deliveries
  deliverEverything: z.boolean().default(true),
  holdDeliveries: z.boolean().default(false),
  orderedPerBuild: z.boolean().default(true),
  disorderMs: z.int().min(0).max(60_000).default(200),
  deliveryCopies: z.int().min(1).max(10).default(1),
  deliveryRetriesMax: z.int().min(0).max(20).default(0),
  deliveryRetryMs: z.int().min(0).max(DAY_MS).default(500),
  deliveryTimeoutMs: z.int().min(1).max(600_000).default(5_000),
  extraFields: z.boolean().default(false),
  timestampForm: z.enum(['iso', 'utc']).default('iso'),
  buildIdForm: z.enum(['integer', 'uuid']).default('integer'),
  buildUrlForm: z.enum(['ids', 'uuids']).default('ids'),
  missingFields: z.array(z.string()).default([]),
  nullFields: z.array(z.string()).default([]),
})

export type Switches = z.infer<typeof switchesSchema>

export const defaultSwitches = (): Switches => switchesSchema.parse({})

/** Applies `changes` to `current`. `invalid` if a switch or value is unknown. */
export function changeSwitches(
  current: Switches,
  changes: unknown,
): { kind: 'switches'; switches: Switches } | { kind: 'invalid'; reasons: string[] } {
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes)) {
    return { kind: 'invalid', reasons: ['an object of switches is required'] }
  }
  const wanted = { ...current, ...changes }
  const parsed = switchesSchema.safeParse(wanted)
  return parsed.success
    ? { kind: 'switches', switches: parsed.data }
    : { kind: 'invalid', reasons: faultReasons(parsed.error, wanted) }
}
