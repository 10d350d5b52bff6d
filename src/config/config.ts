import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isChannelId } from '../domain/ids.ts'
import type { GithubApp } from '../sources/github/app.ts'
import { isSigningToken, signingKey } from '../sources/gitlab/endpoint.ts'
import { isProjectPath, isRepositoryName } from '../sources/http/address.ts'
import type { Subscription } from '../domain/rules/subscription.ts'
import { errorCode } from '../lib/error-code.ts'
import { createReader, type Environment, type Reader } from './environment.ts'
import type { DatabaseAddress } from '../store/open.ts'
import { parseSubscriptions } from './subscriptions-file.ts'
import { percentDecoded } from '../lib/escape.ts'

export interface Config {
  port: number
  /** the address to listen on; null: all interfaces */
  host: string | null
  /** the port of `/metrics` and `/readyz`; null: the same as `port` */
  metricsPort: number | null
  slack: { botToken: string; signingSecret: string | null; appToken: string | null; apiUrl: string | null }
  ci: {
    v2: { baseUrl: string; organizationUuid: string; auth: CiAuth } | null
    legacy: { baseUrl: string; apiKey: string } | null
    siteUrl: string | null
  }
  webhookSecrets: readonly string[]
  github: {
    apiUrl: string
    /** without a token or an app, GitHub is not polled, and nothing is restarted or stopped there */
    token: string | null
    /** a GitHub App in place of the token */
    app: GithubApp | null
    /** repositories to poll for runs, by their full names: `acme/web` */
    repositories: readonly string[]
    /** empty: GitHub has no webhook to this bot */
    webhookSecrets: readonly string[]
  }
  gitlab: {
    /** may have a path */
    url: string
    /** null: GitLab is not called, and nothing is restarted or stopped there */
    token: string | null
    /** projects to poll for pipelines, by their paths: `acme/tools/web` */
    projects: readonly string[]
    /** signing tokens are `whsec_` and then base64; empty: GitLab has no webhook to this bot */
    webhookSecrets: readonly string[]
  }
  database: DatabaseAddress
  subscriptions: readonly Subscription[]
  operators: readonly string[]
  /** empty: the operators */
  approvers: readonly string[]
  admins: readonly string[]
  /** whether to look up a commit's author in Slack by e-mail address */
  asksByEmail: boolean
  /** whether excerpts of logs are read and shown */
  failureLogs: boolean
  /** older builds are removed */
  retentionDays: number
  logLevel: string
}

export type CiAuth =
  | { kind: 'static'; authorization: string }
  | { kind: 'client-credentials'; tokenUrl: string; clientId: string; clientSecret: string }

type ConfigReading = { kind: 'config'; config: Config } | { kind: 'faults'; faults: readonly string[] }

/**
 * Reads the configuration from the environment. Reports every fault at once, with what to do about it. No fault quotes
 * a value that may be secret.
 */
export function readConfig(
  environment: Environment,
  readFile = (path: string) => readFileSync(path, 'utf8'),
): ConfigReading {
  const env = createReader(environment)
  const config: Config = {
    port: env.port('PORT') ?? 3000,
    host: env.text('HOST'),
    metricsPort: env.port('METRICS_PORT'),
    slack: readSlack(env),
    ci: { v2: readV2(env), legacy: readLegacy(env), siteUrl: env.url('CI_SITE_URL') },
    webhookSecrets: readSecrets(env),
    github: readGithub(env, readFile),
    gitlab: readGitlab(env),
    database: readDatabase(env.text('DATABASE_URL'), env.faults, env.text('POSTGRES_PASSWORD')),
    subscriptions: [...readDefaultChannel(env), ...readFileOf(env, readFile)],
    operators: env.list('CI_OPERATORS', PERSON_OR_GROUP, NO_PERSON_OR_GROUP),
    approvers: env.list('CI_APPROVERS', PERSON_OR_GROUP, NO_PERSON_OR_GROUP),
    admins: env.list('CI_ADMINS', PERSON_OR_GROUP, NO_PERSON_OR_GROUP),
    asksByEmail: env.oneOf('PEOPLE_BY_EMAIL', ['yes', 'no'], 'no') === 'yes',
    failureLogs: env.oneOf('FAILURE_LOGS', ['yes', 'no'], 'yes') === 'yes',
    retentionDays: env.days('RETENTION_DAYS', 90),
    logLevel: env.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
  }
  return env.faults.length > 0
    ? { kind: 'faults', faults: env.faults }
    : { kind: 'config', config: Object.freeze(config) }
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

function readSlack(env: Reader): Config['slack'] {
  const appToken = readToken(env, 'SLACK_APP_TOKEN')
  const signing =
    'set SLACK_APP_TOKEN (Socket Mode, which needs no public address) or this secret; both are on the app\'s page, "Basic Information"'
  return {
    botToken: readToken(env, 'SLACK_BOT_TOKEN') ?? env.needed('SLACK_BOT_TOKEN', TOKENS.SLACK_BOT_TOKEN.is),
    signingSecret: appToken ? env.text('SLACK_SIGNING_SECRET') : env.needed('SLACK_SIGNING_SECRET', signing),
    appToken,
    apiUrl: env.url('SLACK_API_URL'),
  }
}

/** The form of each token, and where to find it: catches a wrong token, or an example that was left in place. */
const TOKENS = {
  SLACK_BOT_TOKEN: {
    form: /^(?:xoxe\.)?xoxb-[A-Za-z0-9][\x21-\x7e]*$/,
    is: 'the bot token of your Slack app, which begins with xoxb-; it is on the app\'s page, "OAuth & Permissions"',
  },
  SLACK_APP_TOKEN: {
    form: /^xapp-[A-Za-z0-9][\x21-\x7e]*$/,
    is: 'an app-level token of your Slack app, which begins with xapp-; make one on the app\'s page, "Basic Information"',
  },
} as const

function readToken(env: Reader, name: keyof typeof TOKENS): string | null {
  const token = env.text(name)
  const { form, is } = TOKENS[name]
  if (token !== null && !form.test(token)) env.fault(`${name} does not look right: set ${is}`)
  return token
}

function readV2(env: Reader): Config['ci']['v2'] {
  const baseUrl = env.url('CI_BASE_URL')
  const auth = readAuth(env)
  // Check the other settings even if the address is wrong: all faults are reported at once.
  if (!env.text('CI_BASE_URL')) {
    if (auth) env.fault('CI_BASE_URL is not set, but there are credentials for it: set the address of the v2 interface')
    return null
  }
  const organizationUuid = env.needed('CI_ORGANIZATION_UUID', 'the organization whose projects CI_BASE_URL serves')
  if (!auth && !env.text('CI_TOKEN_URL'))
    env.fault(
      "CI_AUTHORIZATION is not set: CI_BASE_URL needs it (the header's value, as is), or CI_TOKEN_URL with CI_CLIENT_ID and CI_CLIENT_SECRET",
    )
  return baseUrl === null || auth === null ? null : { baseUrl, organizationUuid, auth }
}

function readAuth(env: Reader): CiAuth | null {
  const authorization = env.text('CI_AUTHORIZATION')
  const tokenUrl = env.url('CI_TOKEN_URL')
  const isExchanged = env.text('CI_TOKEN_URL') !== null
  if (authorization && isExchanged) env.fault('CI_AUTHORIZATION and CI_TOKEN_URL are both set: use one way to sign in')
  if (authorization) return { kind: 'static', authorization }
  if (!isExchanged) return null
  const clientId = env.needed('CI_CLIENT_ID', 'it goes with CI_TOKEN_URL')
  const clientSecret = env.needed('CI_CLIENT_SECRET', 'it goes with CI_TOKEN_URL')
  return tokenUrl === null ? null : { kind: 'client-credentials', tokenUrl, clientId, clientSecret }
}

function readLegacy(env: Reader): Config['ci']['legacy'] {
  const baseUrl = env.url('CI_LEGACY_BASE_URL')
  if (!env.text('CI_LEGACY_BASE_URL')) {
    if (env.text('CI_API_KEY'))
      env.fault('CI_LEGACY_BASE_URL is not set, but CI_API_KEY is: set the address of the legacy interface')
    return null
  }
  const apiKey = env.needed('CI_API_KEY', "CI_LEGACY_BASE_URL needs it; it is on CI's account page")
  return baseUrl === null ? null : { baseUrl, apiKey }
}

function readSecrets(env: Reader): readonly string[] {
  const secrets = env.list('WEBHOOK_SECRET')
  // Not needed if only GitHub or GitLab is used.
  if (env.text('WEBHOOK_SECRET') === null && OF_OTHER_SOURCES.every((name) => env.text(name) === null))
    env.fault(
      `WEBHOOK_SECRET is not set, and neither is GITHUB_TOKEN or GITLAB_TOKEN: set the one for the service that builds for you. For the CI service, make a secret (${GOOD_SECRET}); its webhook address is /webhooks/builds/<secret>`,
    )
  if (!secrets.every((secret) => TYPED.test(secret)))
    env.fault(
      `WEBHOOK_SECRET has a space or a non-ASCII character (is it still the example?), but it is part of an address. Make a good one: ${GOOD_SECRET}`,
    )
  if (secrets.some(({ length }) => length < SECRET_CHARS_MIN))
    env.fault(
      `WEBHOOK_SECRET is too short: anyone who guesses it can forge deliveries. Use at least ${SECRET_CHARS_MIN} characters: ${GOOD_SECRET}`,
    )
  return secrets
}

const OF_OTHER_SOURCES = [
  'GITHUB_TOKEN',
  'GITHUB_APP_ID',
  'GITHUB_REPOSITORIES',
  'GITHUB_WEBHOOK_SECRET',
  'GITLAB_TOKEN',
  'GITLAB_PROJECTS',
  'GITLAB_WEBHOOK_SECRET',
]
const TYPED = /^[\x21-\x7e]+$/
const GOOD_SECRET = 'openssl rand -hex 24'

/** Deliveries are unsigned: anyone who guesses the secret can forge them. */
const SECRET_CHARS_MIN = 16
const LONG_SECRET = [
  new RegExp(`^.{${SECRET_CHARS_MIN},}$`, 's'),
  `is too short: use at least ${SECRET_CHARS_MIN} characters: ${GOOD_SECRET}`,
] as const

type ReadFile = (path: string) => string

function readGithub(env: Reader, readFile: ReadFile): Config['github'] {
  const token = env.text('GITHUB_TOKEN')
  const app = readGithubApp(env, readFile)
  if (token !== null && app !== null) env.fault('GITHUB_TOKEN and GITHUB_APP_ID are both set: set one of them')
  const repositories = env.list(
    'GITHUB_REPOSITORIES',
    { test: isRepositoryName },
    'contains something that is not a repository: write owner/name, separated by commas',
  )
  if (repositories.length > 0 && token === null && env.text('GITHUB_APP_ID') === null)
    env.fault('GITHUB_TOKEN is not set: GITHUB_REPOSITORIES needs it, with the right to read and write Actions')
  const webhookSecrets = env.list('GITHUB_WEBHOOK_SECRET', ...LONG_SECRET)
  if ((token !== null || app !== null) && !env.text('GITHUB_REPOSITORIES') && webhookSecrets.length === 0)
    env.fault('GITHUB_REPOSITORIES is not set, but a token or an app is: set owner/name, separated by commas')
  return { apiUrl: env.url('GITHUB_API_URL') ?? 'https://api.github.com', token, app, repositories, webhookSecrets }
}

/** A GitHub App in place of a token. Its key is the PEM itself, with `\n` or line breaks, or the path of its file. */
function readGithubApp(env: Reader, readFile: ReadFile): Config['github']['app'] {
  const [id, given] = [env.text('GITHUB_APP_ID'), env.text('GITHUB_APP_PRIVATE_KEY')]
  if (id === null && given === null) return null
  if (id === null || given === null) {
    env.fault('GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY belong together: set both, or none')
    return null
  }
  try {
    const privateKey = given.startsWith('-----BEGIN') ? given.replaceAll(String.raw`\n`, '\n') : readFile(given)
    if (createPrivateKey(privateKey).asymmetricKeyType === 'rsa') return { id, privateKey }
  } catch {
    // The error could quote the key.
  }
  env.fault("GITHUB_APP_PRIVATE_KEY is neither an RSA key in PEM nor the path of one: make one on the app's page")
  return null
}

function readGitlab(env: Reader): Config['gitlab'] {
  const token = env.text('GITLAB_TOKEN')
  const projects = env.list(
    'GITLAB_PROJECTS',
    { test: isProjectPath },
    'contains something that is not a project: write group/project, separated by commas',
  )
  if (projects.length > 0 && token === null)
    env.fault('GITLAB_TOKEN is not set: GITLAB_PROJECTS needs it, with the scope api')
  const webhookSecrets = env.list('GITLAB_WEBHOOK_SECRET', ...LONG_SECRET)
  if (webhookSecrets.some((secret) => isSigningToken(secret) && !signingKey(secret)))
    env.fault(
      'GITLAB_WEBHOOK_SECRET has a signing token that is not whsec_ and then base64 of at least 24 bytes: copy it whole, or make one: echo "whsec_$(openssl rand -base64 32)"',
    )
  if (token !== null && !env.text('GITLAB_PROJECTS') && webhookSecrets.length === 0)
    env.fault('GITLAB_PROJECTS is not set, but GITLAB_TOKEN is: set group/project, separated by commas')
  return { url: env.url('GITLAB_URL') ?? 'https://gitlab.com', token, projects, webhookSecrets }
}

const PERSON_OR_GROUP = /^[UWS][A-Z0-9]{2,20}$/
const NO_PERSON_OR_GROUP =
  'contains something that is not a Slack id: user ids begin with U or W, user-group ids with S, such as S0123ABCD'

/**
 * Reads `DATABASE_URL`. Adds what is wrong with it to the faults.
 * @param password for an address without one, as it is: in an address it would have to be percent-encoded
 */
export function readDatabase(
  given: string | null | undefined,
  faults: string[],
  password: string | null | undefined = null,
): Config['database'] {
  const url = given?.trim() || 'sqlite:data/buildline.db'
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    const parsed = URL.parse(url)
    if (!parsed) faults.push('DATABASE_URL is not a valid postgres:// URL')
    if (!parsed || !password || parsed.password !== '') return { kind: 'postgres', url }
    parsed.password = encodeURIComponent(password)
    return { kind: 'postgres', url: parsed.href }
  }
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1]
  if (!path) faults.push('DATABASE_URL is neither sqlite:<path> nor postgres://…')
  return { kind: 'sqlite', path: path ?? '' }
}

function readDefaultChannel(env: Reader): Subscription[] {
  const channel = env.text('DEFAULT_CHANNEL')
  if (!channel) return []
  if (isChannelId(channel))
    return [
      {
        channel,
        follows: { what: 'unfollowed' },
        rules: null,
        quiet: false,
        mention: 'committer',
        source: 'default-channel',
      },
    ]
  env.fault(
    "DEFAULT_CHANNEL is not a channel id: copy it from the end of the channel's details in Slack; it looks like C0123ABCD",
  )
  return []
}

function readFileOf(env: Reader, readFile: ReadFile): readonly Subscription[] {
  const path = env.text('SUBSCRIPTIONS_FILE')
  if (!path) return []
  try {
    const reading = parseSubscriptions(readFile(path))
    for (const fault of reading.faults) env.fault(`SUBSCRIPTIONS_FILE ${path}: ${fault}`)
    return reading.subscriptions
  } catch (error) {
    env.fault(`SUBSCRIPTIONS_FILE ${path} cannot be read: ${errorCode(error) ?? 'unknown error'}`)
    return []
  }
}

/** Every value that no log, error or message may show. */
export function secretsOf({ slack, ci, webhookSecrets, github, gitlab, database }: Config): string[] {
  const auth = ci.v2?.auth
  const databasePassword = (database.kind === 'postgres' && URL.parse(database.url)?.password) || ''
  const secrets = [
    slack.botToken,
    slack.signingSecret,
    slack.appToken,
    ci.legacy?.apiKey,
    auth?.kind === 'static' ? auth.authorization : auth?.clientSecret,
    databasePassword,
    // An address holds it percent-encoded. The server's errors show it as it is.
    percentDecoded(databasePassword),
    ...webhookSecrets,
    github.token,
    github.app?.privateKey,
    ...github.webhookSecrets,
    gitlab.token,
    ...gitlab.webhookSecrets,
  ]
  return [...new Set(secrets)].filter((secret) => typeof secret === 'string').filter((secret) => secret !== '')
}
