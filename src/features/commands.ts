import type { CommandRow } from './help/messages.ts'
import { badge } from './badge/slack.ts'
import type { Handler } from './command.ts'
import { doctor } from './doctor/slack.ts'
import { help } from './help/slack.ts'
import { list } from './list/slack.ts'
import { me } from './people/slack.ts'
import { project } from './projects/command.ts'
import { restart } from './builds/restart-command.ts'
import { rules } from './subscriptions/rules-command.ts'
import { status } from './builds/status-command.ts'
import { stop } from './builds/stop-command.ts'
import { subscribe } from './subscriptions/subscribe-command.ts'
import { unsubscribe } from './subscriptions/unsubscribe-command.ts'
import { why } from './why/slack.ts'

/** One command: what people are told of it, and what answers it. */
export interface Command extends CommandRow {
  handle: Handler
}

/** The slash command that takes all others as its first word. */
export const ROOT_COMMAND = '/ci'

const BUILD_USAGE = '[project[@branch] | #build | build address | uuid]'

/** THE table: what is not here does not exist. The manifest, the help and the docs are held against it. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'list',
    alias: '/ci-list',
    group: 'Look',
    usage: '[text] [basic|pro] [page]',
    does: 'shows the projects with their last known state',
    examples: ['/ci list', '/ci list acme', '/ci list pro 2'],
    who: 'everyone',
    handle: list,
  },
  {
    name: 'status',
    alias: null,
    group: 'Look',
    usage: '[project] [branch]',
    does: 'shows the last build of each branch, and since when it is red',
    examples: ['/ci status', '/ci status acme/web', '/ci status acme/web main'],
    who: 'everyone',
    handle: status,
  },
  {
    name: 'badge',
    alias: '/ci-badge',
    group: 'Look',
    usage: 'project [branch]',
    does: 'shows a badge in words, with its address, Markdown and HTML to copy',
    examples: ['/ci badge acme/web', '/ci badge acme/web main'],
    who: 'everyone',
    handle: badge,
  },
  {
    name: 'why',
    alias: null,
    group: 'Look',
    usage: '[#build]',
    does: 'explains why channels were told of a build, or were not',
    examples: ['/ci why', '/ci why #512', '/ci why acme/web #512'],
    who: 'everyone',
    handle: why,
  },
  {
    name: 'stop',
    alias: '/ci-stop',
    group: 'Act',
    usage: BUILD_USAGE,
    does: 'stops a running build; alone, it shows what runs here',
    examples: ['/ci stop acme/web@main', '/ci stop #512', '/ci stop'],
    who: 'operators',
    handle: stop,
  },
  {
    name: 'restart',
    alias: '/ci-restart',
    group: 'Act',
    usage: BUILD_USAGE,
    does: 'runs the last build of a branch again, in Basic projects',
    examples: ['/ci restart acme/web@main', '/ci restart #512'],
    who: 'operators',
    handle: restart,
  },
  {
    name: 'me',
    alias: null,
    group: 'You',
    usage: '[name [for @person] | forget name | mentions on|off]',
    does: 'says whom a committer name means, so that failures mention the right person',
    examples: ['/ci me', '/ci me ada', '/ci me mentions off', '/ci me ada for @grace'],
    who: 'everyone',
    handle: me,
  },
  {
    name: 'doctor',
    alias: null,
    group: 'Help',
    usage: '',
    does: 'finds what is misconfigured, and says how to mend it',
    examples: ['/ci doctor'],
    who: 'admins',
    handle: doctor,
  },
  {
    name: 'rules',
    alias: null,
    group: 'Follow',
    usage: '[page] | test project branch [event]',
    does: 'shows what this channel is told, and by which rules; with test, who would be told of a build',
    examples: ['/ci rules', '/ci rules test acme/web main', '/ci rules test acme/web main failed'],
    who: 'everyone',
    handle: rules,
  },
  {
    name: 'subscribe',
    alias: null,
    group: 'Follow',
    usage: '[project|all] [events] [branch pattern] [quiet] [mention|no-mention]',
    does: 'makes this channel follow a project; alone, it opens a form',
    examples: [
      '/ci subscribe',
      '/ci subscribe acme/web',
      '/ci subscribe acme/web failed recovered release/*',
      '/ci subscribe all failed quiet no-mention',
    ],
    who: 'members',
    handle: subscribe,
  },
  {
    name: 'unsubscribe',
    alias: null,
    group: 'Follow',
    usage: '[project|all]',
    does: 'ends what this channel follows of a project',
    examples: ['/ci unsubscribe', '/ci unsubscribe acme/web', '/ci unsubscribe all'],
    who: 'members',
    handle: unsubscribe,
  },
  {
    name: 'project',
    alias: null,
    group: 'Projects',
    usage: '[edit|reset-aes-key] project, or create [repository]',
    does: 'shows a project: what it builds and whom it tells; creates and changes projects',
    examples: [
      '/ci project acme/web',
      '/ci project edit acme/web',
      '/ci project create',
      '/ci project reset-aes-key acme/ios',
    ],
    who: 'everyone',
    handle: project,
  },
  {
    name: 'help',
    alias: null,
    group: 'Help',
    usage: '[command]',
    does: 'lists the commands, or explains one',
    examples: ['/ci help', '/ci help stop'],
    who: 'everyone',
    handle: help,
  },
]

/** The command of that name, in any case; null where there is none. */
export const commandNamed = (name: string): Command | null =>
  COMMANDS.find((command) => command.name === name.toLowerCase()) ?? null
