/** What the bot's token must be allowed to do: exactly what manifest.yml asks for; a test holds the two together. */
export const SCOPES = [
  'app_mentions:read',
  'channels:history',
  'channels:read',
  'chat:write',
  'commands',
  'files:write',
  'groups:history',
  'groups:read',
  'usergroups:read',
  'users:read',
] as const
