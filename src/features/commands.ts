import { badge } from './badge/slack.ts'
import type { Command } from './command.ts'
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

/** The slash command that takes all others as its first word. */
export const ROOT_COMMAND = '/ci'

/** THE table: what is not here does not exist. The manifest, the help and the docs are held against it. */
export const COMMANDS: readonly Command[] = [
  list,
  status,
  badge,
  why,
  stop,
  restart,
  me,
  doctor,
  rules,
  subscribe,
  unsubscribe,
  project,
  help,
]

/** The command of that name, in any case; null where there is none. */
export const commandNamed = (name: string): Command | null =>
  COMMANDS.find((command) => command.name === name.toLowerCase()) ?? null
