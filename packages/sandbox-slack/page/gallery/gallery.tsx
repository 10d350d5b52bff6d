// The gallery: all messages and forms of the bot, drawn by the page's own components. It is one script that also works
// from a file. The demo's gallery makes its data, `entries.js`, from the golden files.
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import '../look/look.css'
import { recallTheme, useColours } from '../look/theme.ts'
import { EntryView } from './entry-view.tsx'
import type { Entry, Group } from './entry.ts'
import './gallery.css'

declare global {
  /** set by `entries.js` */
  var galleryGroups: readonly Group[]
}

/** How many results of a search are drawn. */
const FOUND_MAX = 60

function Gallery({ groups }: { groups: readonly Group[] }) {
  const hash = useHash()
  const [wanted, setWanted] = useState('')
  const [isMenuOpen, setMenuOpen] = useState(false)
  useColours(recallTheme())
  const { title, entries } = shownFor(groups, hash, wanted)
  return (
    <div class="gallery">
      <nav class="gallery-nav" aria-label="Groups">
        <h1>Everything that Buildline says</h1>
        <label for="gallery-search">Search</label>
        <input
          id="gallery-search"
          type="search"
          value={wanted}
          placeholder="a name or any word"
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
        <button
          class="gallery-menu"
          type="button"
          aria-expanded={isMenuOpen}
          aria-controls="gallery-groups"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          {isMenuOpen ? 'Close' : 'All groups'}
        </button>
        <ul id="gallery-groups" class={isMenuOpen ? '' : 'folded'}>
          {groups.map((group) => (
            <li key={group.title}>
              <a
                href={`#${slugOf(group)}`}
                aria-current={group.title === title ? 'page' : undefined}
                onClick={() => {
                  setWanted('')
                  setMenuOpen(false)
                }}
              >
                {group.title} <span class="muted">{group.entries.length}</span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main class="gallery-shown" aria-labelledby="gallery-title">
        <h2 id="gallery-title">{title}</h2>
        {entries.map((entry) => (
          <EntryView key={entry.id} entry={entry} />
        ))}
      </main>
    </div>
  )
}

const slugOf = ({ title }: Group): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/** The results of the search, or else what the URL's hash names: entries, separated by commas, or a group. */
function shownFor(groups: readonly Group[], hash: string, wanted: string): Group {
  const all = groups.flatMap(({ entries }) => entries)
  if (wanted.trim() !== '') return found(all, wanted.trim().toLowerCase())
  const ids = hash.split(',')
  const named = ids.flatMap((id) => all.filter((entry) => entry.id === id))
  if (named.length > 0) return { title: named.length === 1 ? (named[0]?.name ?? '') : 'Chosen', entries: named }
  return groups.find((group) => slugOf(group) === hash) ?? groups[0] ?? { title: 'Nothing', entries: [] }
}

function found(all: readonly Entry[], wanted: string): Group {
  const entries = all.filter(({ name, when, reading }) =>
    [name, when, ...reading].join('\n').toLowerCase().includes(wanted),
  )
  const more = entries.length > FOUND_MAX ? `, the first ${FOUND_MAX} of them` : ''
  return { title: `${entries.length} found${more}`, entries: entries.slice(0, FOUND_MAX) }
}

function useHash(): string {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const look = () => setHash(location.hash)
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
  return decodeURIComponent(hash.replace(/^#/, ''))
}

render(<Gallery groups={globalThis.galleryGroups} />, document.body)
