import { cell } from './cell.ts'

/** What an operator can set, by name: what counts where it is not set, and what it is. */
interface Setting {
  names: readonly string[]
  default: string
  is: string
}

const NEEDED = '*needed*'

/** Every setting, in the order in which somebody new comes to it. */
export const SETTINGS: readonly Setting[] = [
  {
    names: ['SLACK_BOT_TOKEN'],
    default: NEEDED,
    is: 'the bot token, `xoxb-…`',
  },
  {
    names: ['SLACK_SIGNING_SECRET'],
    default: '*needed without `SLACK_APP_TOKEN`*',
    is: 'proves that a request comes from Slack',
  },
  {
    names: ['SLACK_APP_TOKEN'],
    default: '',
    is: '`xapp-…`; if set, Buildline uses Socket Mode and needs no public address for Slack',
  },
  {
    names: ['SLACK_API_URL'],
    default: "Slack's",
    is: 'address of another Slack Web API, for tests',
  },
  {
    names: ['WEBHOOK_SECRET'],
    default: '*needed without GitHub and GitLab*',
    is: 'one or more of at least 16 characters each, comma-separated, without spaces; to change it, add the new one, change CI, remove the old one',
  },
  {
    names: ['DEFAULT_CHANNEL'],
    default: '',
    is: 'channel id: follows every project that no other channel follows',
  },
  {
    names: ['SUBSCRIPTIONS_FILE'],
    default: '',
    is: 'YAML: [the subscriptions of channels](subscriptions.md#which-subscription-counts)',
  },
  {
    names: ['CI_BASE_URL', 'CI_ORGANIZATION_UUID'],
    default: '',
    is: 'the v2 interface: projects and their rules, *Stop*, changing projects',
  },
  {
    names: ['CI_AUTHORIZATION'],
    default: '',
    is: "the `Authorization` header's value for it, as is; or:",
  },
  {
    names: ['CI_TOKEN_URL', 'CI_CLIENT_ID', 'CI_CLIENT_SECRET'],
    default: '',
    is: 'OAuth2 client credentials',
  },
  {
    names: ['CI_LEGACY_BASE_URL', 'CI_API_KEY'],
    default: '',
    is: 'the legacy interface, for Basic projects: *Restart*',
  },
  {
    names: ['GITHUB_TOKEN', 'GITHUB_REPOSITORIES'],
    default: '',
    is: 'GitHub Actions: a token that may read and write Actions; `owner/name`, comma-separated, of the repositories whose runs are asked for',
  },
  {
    names: ['GITLAB_TOKEN', 'GITLAB_PROJECTS'],
    default: '',
    is: 'GitLab CI: a token with the scope `api`; `group/project`, comma-separated, of the projects whose pipelines are asked for',
  },
  {
    names: ['GITHUB_APP_ID', 'GITHUB_APP_PRIVATE_KEY'],
    default: '',
    is: '[a GitHub App](github.md#a-github-app) in place of `GITHUB_TOKEN`: its id, and its key in PEM or the file that holds it',
  },
  {
    names: ['GITHUB_API_URL', 'GITLAB_URL'],
    default: '`https://api.github.com`, `https://gitlab.com`',
    is: 'for GitHub Enterprise Server: `https://<host>/api/v3`; for a self-managed GitLab: its address, with its path if it has one',
  },
  {
    names: ['GITHUB_WEBHOOK_SECRET', 'GITLAB_WEBHOOK_SECRET'],
    default: '',
    is: 'one or more, comma-separated: they prove where a delivery comes from; a signing token of GitLab is `whsec_` and then base64 of at least 24 bytes',
  },
  {
    names: ['CI_SITE_URL'],
    default: '',
    is: "CI's public site, for badges",
  },
  {
    names: ['CI_OPERATORS'],
    default: 'all full members',
    is: 'who may stop and restart, comma-separated: Slack user ids (`U…`, `W…`) and user-group ids (`S…`)',
  },
  {
    names: ['CI_APPROVERS'],
    default: '`CI_OPERATORS`',
    is: 'who may approve and reject deployments, and start manual jobs and, with `/ci run`, workflows and pipelines: user and group ids, as above',
  },
  {
    names: ['CI_ADMINS'],
    default: "the workspace's admins and owners",
    is: 'user and group ids, as above: who may create and edit projects, reset keys, ask the doctor, decide whose a committer name is. Each user (`U…`) gets a direct message when CI, GitHub or GitLab refuses the credentials, and when a channel closes whose subscriptions have no other owner',
  },
  {
    names: ['PEOPLE_BY_EMAIL'],
    default: '`no`',
    is: "`yes`: a failure asks the person in Slack who has the e-mail address of the commit's author whether its name is theirs; [needs one more scope](subscriptions.md#whose-name-it-is)",
  },
  {
    names: ['FAILURE_LOGS'],
    default: '`yes`',
    is: '`no`: no log of GitHub or GitLab is read to say [what failed](github.md#what-failed)',
  },
  {
    names: ['DATABASE_URL'],
    default: '`sqlite:data/buildline.db`',
    is: 'or `postgres://user:password@host/database`',
  },
  {
    names: ['POSTGRES_PASSWORD'],
    default: '',
    is: 'the password of a `DATABASE_URL` that has none, as it is: in an address, some characters would have to be encoded',
  },
  {
    names: ['RETENTION_DAYS'],
    default: '`90`',
    is: 'what is older is removed once a day, the audit too: [what stays](operations/upkeep.md)',
  },
  {
    names: ['PORT', 'HOST'],
    default: '`3000`, all interfaces',
    is: 'where to listen: the port (0: any free one), and the address, such as `127.0.0.1`',
  },
  {
    names: ['METRICS_PORT'],
    default: '',
    is: 'if set, `/metrics` and `/readyz` are served here instead of on `PORT`',
  },
  {
    names: ['LOG_LEVEL'],
    default: '`info`',
    is: '`debug` also logs each decision',
  },
]

export const settingTable = (): string =>
  [
    '| name | default | what it is |',
    '|---|---|---|',
    ...SETTINGS.map(
      ({ names, default: unset, is }) =>
        `| ${names.map((name) => `\`${name}\``).join(', ')} | ${unset} | ${cell(is)} |`,
    ),
  ].join('\n')
