import { useState } from 'preact/hooks'
import { HomeTab } from '../slack/home-tab.tsx'
import { MessageView } from '../slack/message.tsx'
import { ModalSheet } from '../slack/modal-sheet.tsx'
import { plainText, seenText, type Names } from '../slack/mrkdwn.ts'
import { SceneProvider, STILL, type Scene } from '../slack/scene.ts'
import type { Block, Channel, User, Values } from '../store/wire.ts'
import type { Entry } from './entry.ts'

/** An entry: how it looks, when it appears, how it is read aloud, and its JSON. */
export function EntryView({ entry }: { entry: Entry }) {
  const { id, name, when, reading } = entry
  return (
    <article class="gallery-entry" id={id} aria-labelledby={`${id}-name`}>
      <h3 id={`${id}-name`}>
        <a href={`#${id}`}>{name}</a>
      </h3>
      <p class="gallery-when">{when}</p>
      <div class="gallery-picture">
        <Picture entry={entry} />
      </div>
      <section class="gallery-reading" aria-labelledby={`${id}-reading`}>
        <h4 id={`${id}-reading`}>{entry.shows === 'message' ? 'As a notification' : 'As it is read aloud'}</h4>
        {reading.map((line, index) => (
          <p key={index}>{entry.shows === 'message' ? seenText(line, NAMES) : plainText(line, NAMES)}</p>
        ))}
      </section>
      {entry.shows === 'message' && entry.plain !== null && (
        <details>
          <summary>Sent alone where Slack refuses the blocks</summary>
          <pre>{entry.plain}</pre>
        </details>
      )}
      <Json value={entry.json} />
    </article>
  )
}

/** The JSON is drawn only when it is opened, because there are hundreds of entries. */
function Json({ value }: { value: unknown }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>JSON</summary>
      {isOpen && <pre>{JSON.stringify(value, null, 2)}</pre>}
    </details>
  )
}

function Picture({ entry }: { entry: Entry }) {
  if (entry.shows === 'message')
    return (
      <SceneProvider value={SCENE}>
        <MessageView message={{ ...FRAME, ...entry.json }} author={BUILDLINE} />
      </SceneProvider>
    )
  const { blocks, values, errors } = apart(entry)
  const view = { ...entry.json, blocks }
  return (
    <SceneProvider value={{ ...SCENE, form: formOf(values, errors) }}>
      {entry.shows === 'home' ? (
        <HomeTab view={view} appName={BUILDLINE.realName} />
      ) : (
        <ModalSheet view={view} name={entry.id} appName={BUILDLINE.realName} />
      )}
    </SceneProvider>
  )
}

/** Makes block ids unique: the page shows several forms, and field ids are made from block ids. */
function apart({ id, json, values, errors }: Extract<Entry, { shows: 'modal' | 'home' }>) {
  const own = (block: string) => `${id}/${block}`
  const renamed = <Value,>(record: Readonly<Record<string, Value>>) =>
    Object.fromEntries(Object.entries(record).map(([block, value]) => [own(block), value]))
  const blocks: Block[] = json.blocks.map((block) =>
    block.block_id === undefined ? block : { ...block, block_id: own(block.block_id) },
  )
  return { blocks, values: renamed(values), errors: renamed(errors) }
}

/** A form whose fields cannot be changed. */
const formOf = (values: Values, errors: Readonly<Record<string, string>>): NonNullable<Scene['form']> => ({
  held: (element, block) => values[block.block_id ?? '']?.[element.action_id ?? ''] ?? {},
  put: () => undefined,
  tell: () => undefined,
  errors,
})

const BUILDLINE: User = { id: 'U0BUILDBOT', name: 'buildline', realName: 'Buildline', role: 'bot' }
const PEOPLE: Readonly<Record<string, string>> = { U0ADA: 'Ada', U0ADA00001: 'Ada', U0LIN: 'Lin', U0GRACE: 'Grace' }
const CHANNELS: Readonly<Record<string, string>> = { C0BUILDS01: 'builds' }
const NAMES: Names = { users: PEOPLE, channels: CHANNELS }

const channels: readonly Channel[] = Object.entries(CHANNELS).map(([id, name]) => ({
  id,
  name,
  kind: 'public',
  isArchived: false,
  isShared: false,
  hasBot: true,
  members: [],
}))

const SCENE: Scene = { ...STILL, names: NAMES, channels }

/** The fields of a message that the gallery does not care about, such as time and channel. */
const FRAME = {
  ts: '1777903740.000100',
  channel: 'C0BUILDS01',
  root: null,
  user: BUILDLINE.id,
  isBroadcast: false,
  isTombstone: false,
  editCount: 0,
}
