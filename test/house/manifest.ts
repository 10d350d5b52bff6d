import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { ROOT } from './imports.ts'

/** The parts of manifest.yml that are checked. */
export interface Manifest {
  display_information: { name: string; description: string }
  features: {
    app_home: { home_tab_enabled: boolean; messages_tab_enabled: boolean }
    bot_user: { display_name: string }
    shortcuts: { name: string; type: string; callback_id: string; description: string }[]
    slash_commands: { command: string; description: string; usage_hint: string; should_escape: boolean }[]
  }
  oauth_config: { scopes: { bot: string[] } }
  settings: {
    event_subscriptions: { bot_events: string[] }
    interactivity: { is_enabled: boolean }
    socket_mode_enabled: boolean
  }
}

export const readManifestText = (): string => readFileSync(join(ROOT, 'manifest.yml'), 'utf8')

export const readManifest = (): Manifest => parse(readManifestText()) as Manifest
