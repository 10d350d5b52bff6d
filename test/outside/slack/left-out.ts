/** Fields of Slack's samples that the sandbox leaves out on purpose; `*` stands for anything. */
const LEFT_OUT: readonly { why: string; fields: readonly string[] }[] = [
  { why: 'what the app sent comes back as it was sent', fields: ['* *blocks[].*', '* *attachments[].*'] },
  { why: 'needs no scope', fields: scopeless('needed', 'provided') },
  { why: 'tokens do not rotate', fields: ['auth.test expires_in'] },
  { why: 'has no argument that could be wrong', fields: ['apps.connections.open response_metadata.messages'] },
  { why: 'names no argument that is wrong', fields: ['users.lookupByEmail response_metadata.messages', '* arg'] },
  { why: 'nobody has a picture', fields: ['* user.profile.image_*', '* *.is_custom_image', '* *.icons'] },
  { why: 'an app posts under its own name', fields: ['* message*.username', '* *.root.subtype'] },
  { why: 'a root is in no thread of another', fields: ['* *.root.parent_user_id'] },
  { why: 'an app has read marks of no thread and list', fields: ['* *.subscribed', '* *[].last_read', '* *.is_open'] },
  { why: "only Slack's clients write it", fields: ['* messages[].client_msg_id'] },
  { why: 'in the sample of one method alone', fields: ['chat.postMessage message.bot_profile.user_id'] },
  { why: 'nothing is said of joins and topics', fields: ['* *.topic', '* messages[].purpose', '* *.inviter'] },
  { why: 'no huddles, assistants, canvases', fields: ['* *.room', '* *.assistant_app_thread', '* channel_actions_*'] },
  { why: 'no old arguments, no previews of files in text', fields: ['* deprecated_argument', '* *.x_files'] },
  { why: 'channels have no tabs, canvases or parents', fields: ['* *.parent_conversation', ...properties()] },
  { why: 'only admins may know', fields: ['* user.has_2fa', '* user.two_factor_type'] },
  {
    why: 'nobody fills in a profile',
    fields: ['pronouns', 'start_date', 'huddle_state*', 'status_emoji_url'].map((field) => `* user.profile.${field}`),
  },
  { why: 'nobody was invited', fields: ['* user.is_invited_user', '* user.profile.guest_invited_by'] },
  {
    why: 'a file is a small picture of this app, of which nothing else is made',
    fields: [
      'thumb_*',
      'original_*',
      'deanimate*',
      'preview*',
      'lines*',
      '*_link',
      '*_public',
      'shares',
      '*_by_ai',
    ].map((field) => `files.completeUploadExternal files[].${field}`),
  },
  { why: 'the sample has a file of every kind', fields: ['chat.update message.files[].*'] },
  { why: 'a Home has no title and no buttons of its own', fields: homeless('title', 'submit.*', 'close.*') },
  {
    why: 'no views of unfurled links',
    fields: ['entity_url', 'external_ref', 'app_unfurl_url', 'message_ts', 'thread_ts', 'channel'].map(
      (field) => `views.* view.${field}`,
    ),
  },
]

function scopeless(...fields: string[]): string[] {
  return ['apps.connections.open', 'auth.test', 'views.*'].flatMap((method) =>
    fields.map((field) => `${method} ${field}`),
  )
}

function properties(): string[] {
  const names = ['is_dormant', 'tab*', 'has_slack_connect_invite_created', 'huddles_restricted', 'canvas']
  return [...names, 'meeting_notes', 'use_case'].map((name) => `* *.properties.${name}`)
}

function homeless(...fields: string[]): string[] {
  return fields.map((field) => `views.publish view.${field}`)
}

export const LEFT_OUT_PATTERNS: readonly string[] = LEFT_OUT.flatMap(({ fields }) => fields)

const EXPRESSIONS = new Map(
  LEFT_OUT_PATTERNS.map((pattern) => {
    const literal = pattern.replaceAll(/[.[\]]/g, String.raw`\$&`)
    return [pattern, new RegExp(`^${literal.replaceAll('*', '.*')}$`)]
  }),
)

/** The patterns that leave this field of this method's answer out. */
export const patternsFor = (method: string, field: string): string[] =>
  LEFT_OUT_PATTERNS.filter((pattern) => EXPRESSIONS.get(pattern)?.test(`${method} ${field}`))
