import { describe, expect, it } from 'vitest'
import { usageOf } from '../../src/features/kit/command.ts'
import { describedFeatures, ROOT_COMMAND } from '../../src/features/features.ts'
import { eventTypes } from '../../src/features/kit/register.ts'
import { EMAIL_SCOPE, SCOPES } from '../../src/slack/api/examiner.ts'
import { DEFAULT_SCOPES } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { readSources } from './imports.ts'
import { readManifest, readManifestText } from './manifest.ts'

const DESCRIBED = describedFeatures()

const manifest = readManifest()
const { features, settings } = manifest
const scopes = manifest.oauth_config.scopes.bot

/** The scopes that each Web API method needs. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  'auth.test': [],
  'chat.delete': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'chat.postMessage': ['chat:write'],
  'chat.update': ['chat:write'],
  'conversations.history': ['channels:history', 'groups:history'],
  'conversations.info': ['channels:read', 'groups:read'],
  'conversations.replies': ['channels:history', 'groups:history'],
  'files.completeUploadExternal': ['files:write'],
  'files.getUploadURLExternal': ['files:write'],
  'usergroups.users.list': ['usergroups:read'],
  'users.conversations': ['channels:read', 'groups:read'],
  'users.info': ['users:read'],
  'users.lookupByEmail': [EMAIL_SCOPE],
  'views.open': [],
  'views.publish': [],
  'views.update': [],
}

/** The scopes that each event or feature needs. */
const FEATURES: Readonly<Record<string, readonly string[]>> = {
  'slash commands': ['commands'],
  shortcuts: ['commands'],
  app_mention: ['app_mentions:read'],
  'what happens to public channels': ['channels:read'],
  'what happens to private channels': ['groups:read'],
}

const METHOD = /'((?:auth|chat|conversations|files|reactions|usergroups|users|views)\.[a-z][A-Za-z.]*)'/g

const methodsCalled = (): string[] => {
  const ours = [...readSources()].filter(([file]) => !file.startsWith('sandbox/') && !file.startsWith('tools/'))
  const found = ours.flatMap(([, text]) => [...text.matchAll(METHOD)].map(([, method]) => method!))
  return [...new Set(found)].toSorted()
}

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)

describe('the manifest', () => {
  it('has the slash commands of the table, with their hints and descriptions', () => {
    const aliases = DESCRIBED.commands.flatMap(({ alias, usage, does }) =>
      alias === null ? [] : [{ alias, usage, does }],
    )
    const names = DESCRIBED.commands.map(({ name }) => name)
    expect(features.slash_commands).toEqual([
      {
        command: ROOT_COMMAND,
        description: `Builds - ${names.join(', ')}`,
        usage_hint: names.join(' | '),
        // Needed for `/ci me ada for @grace`: a name alone would not say which Grace.
        should_escape: true,
      },
      ...aliases.map(({ alias, usage, does }) => ({
        command: alias,
        description: sentence(does),
        usage_hint: usage,
        should_escape: false,
      })),
    ])
  })

  it('has the shortcuts that have handlers', () => {
    expect(features.shortcuts).toEqual(
      [...DESCRIBED.shortcuts].map(([id, { name, description }]) => ({
        name,
        type: 'message',
        callback_id: id,
        description,
      })),
    )
  })

  it('has the events that are handled, interactions, and Socket Mode', () => {
    expect(settings.event_subscriptions.bot_events.toSorted()).toEqual(eventTypes(DESCRIBED).toSorted())
    expect(settings.interactivity.is_enabled).toBe(true)
    expect(settings.socket_mode_enabled).toBe(true)
  })

  it('is checked against every Web API method that is called', () => {
    expect(methodsCalled().filter((method) => !(method in METHODS))).toEqual([])
  })

  it('has scopes only for methods that are called', () => {
    expect(Object.keys(METHODS).filter((method) => !methodsCalled().includes(method))).toEqual([])
  })

  it('has every scope that is needed, and no others, nor the one for an optional setting', () => {
    const needed = new Set([...Object.values(METHODS), ...Object.values(FEATURES)].flat())
    needed.delete(EMAIL_SCOPE)
    expect(scopes).toEqual([...needed].toSorted())
  })

  it('has the scopes that the doctor checks', () => {
    expect(scopes).toEqual(SCOPES)
  })

  it('has a Home, which is drawn when it is opened, and direct messages for answers', () => {
    expect(features.app_home).toMatchObject({ home_tab_enabled: true, messages_tab_enabled: true })
  })

  it('has a reason for every scope', () => {
    const lines = readManifestText().split('\n')
    const unexplained = scopes.filter((scope) => {
      const at = lines.findIndex((line) => line.trim() === `- ${scope}`)
      return !lines[at - 1]?.trim().startsWith('# ')
    })
    expect(unexplained).toEqual([])
  })

  it('has nothing that the sandbox Slack would not grant', () => {
    const granted: readonly string[] = DEFAULT_SCOPES
    expect(scopes.filter((scope) => !granted.includes(scope))).toEqual([])
  })
})

const SLASH_COMMANDS_MAX = 50
const SHORTCUTS_MAX = 10

describe("the manifest keeps Slack's limits of length", () => {
  it("in the app's names", () => {
    expect(manifest.display_information.name.length).toBeLessThanOrEqual(35)
    expect(manifest.display_information.description.length).toBeLessThanOrEqual(140)
    expect(features.bot_user.display_name.length).toBeLessThanOrEqual(80)
  })

  it('in slash commands', () => {
    expect(features.slash_commands.length).toBeLessThanOrEqual(SLASH_COMMANDS_MAX)
    for (const { command, description, usage_hint: hint } of features.slash_commands) {
      expect(command).toMatch(/^\/[a-z-]{1,31}$/)
      expect(description.length).toBeLessThanOrEqual(2_000)
      expect(hint.length).toBeLessThanOrEqual(1_000)
    }
  })

  it('in shortcuts', () => {
    expect(features.shortcuts.length).toBeLessThanOrEqual(SHORTCUTS_MAX)
    for (const { name, callback_id: id, description } of features.shortcuts) {
      expect(name.length).toBeLessThanOrEqual(24)
      expect(id.length).toBeLessThanOrEqual(255)
      expect(description.length).toBeLessThanOrEqual(150)
    }
  })
})

describe('the table of commands', () => {
  it('has each command and alias once', () => {
    const names = DESCRIBED.commands.flatMap(({ name, alias }) => (alias === null ? [name] : [name, alias]))
    expect(new Set(names).size).toBe(names.length)
  })

  it('has aliases that begin like their command, since they are parsed by it', () => {
    for (const { name, alias } of DESCRIBED.commands) expect([null, `${ROOT_COMMAND}-${name}`]).toContain(alias)
  })

  it('has examples that are commands', () => {
    for (const row of DESCRIBED.commands) {
      expect(row.examples.length).toBeGreaterThan(0)
      for (const example of row.examples) expect(`${example} `).toContain(`${ROOT_COMMAND} ${row.name} `)
    }
  })

  it('describes a command as it is typed', () => {
    expect(usageOf({ name: 'look', usage: 'project [branch]' })).toBe('/ci look project [branch]')
    expect(usageOf({ name: 'look', usage: '' })).toBe('/ci look')
  })
})
