import { MenuIcon, ThemeIcon } from '../look/icons.tsx'
import type { Theme } from '../look/theme.ts'
import { useHasPanels } from '../panel/panel-store.ts'
import { DOCK } from '../panels.ts'
import type { Panel } from '../panels.ts'
import { Avatar } from '../slack/avatar.tsx'
import { actorsOf } from '../store/state.ts'
import { useActs, useSlack } from '../store/workspace.tsx'

/** The bar at the top: the workspace, the panels' buttons, light or dark, and the acting person. */
export function Topbar() {
  const team = useSlack((state) => state.team.name)
  return (
    <header class="topbar">
      <MenuButton />
      <h1 id="team">{team} Slack</h1>
      <Connection />
      <div class="topbar-end">
        <DockButtons />
        <ThemeButton />
        <ActingAs />
      </div>
    </header>
  )
}

function MenuButton() {
  const isOpen = useSlack((state) => state.isMenuOpen)
  const { dispatch } = useActs()
  return (
    <button
      id="menu"
      class="icon"
      type="button"
      aria-label="Channels"
      aria-expanded={isOpen}
      aria-controls="sidebar"
      onClick={() => dispatch({ kind: 'menu', isOpen: !isOpen })}
    >
      <MenuIcon />
    </button>
  )
}

function Connection() {
  const isLive = useSlack((state) => state.isLive)
  return (
    <p id="connection" role="status" data-live={isLive}>
      {isLive ? 'live' : 'reconnecting…'}
    </p>
  )
}

function DockButtons() {
  const hasPanels = useHasPanels()
  if (!hasPanels) return null
  return (
    <div class="dock-buttons" role="group" aria-label="Panels">
      {DOCK.map((panel) => (
        <DockButton key={panel.id} panel={panel} />
      ))}
    </div>
  )
}

function DockButton({ panel: { id, title, sign } }: { panel: Panel }) {
  const isOpen = useSlack((state) => state.dock === id)
  const { dispatch } = useActs()
  return (
    <button
      class="dock-button"
      type="button"
      aria-expanded={isOpen}
      aria-controls="dock"
      onClick={() => dispatch({ kind: 'dock', panel: isOpen ? null : id })}
    >
      <span aria-hidden="true">{sign}</span> <span class="dock-button-title">{title}</span>
    </button>
  )
}

const NEXT_THEME: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }
const THEME_WORDS: Record<Theme, string> = { system: 'as this machine is set', light: 'light', dark: 'dark' }

function ThemeButton() {
  const theme = useSlack((state) => state.theme)
  const { dispatch } = useActs()
  const words = `Colours: ${THEME_WORDS[theme]}. Change to ${THEME_WORDS[NEXT_THEME[theme]]}`
  return (
    <button
      id="theme"
      class="icon"
      type="button"
      aria-label={words}
      title={words}
      onClick={() => dispatch({ kind: 'theme', theme: NEXT_THEME[theme] })}
    >
      <ThemeIcon />
    </button>
  )
}

function ActingAs() {
  const users = useSlack((state) => state.users)
  const person = useSlack((state) => state.person)
  const { dispatch } = useActs()
  const user = users.get(person)
  return (
    <div class="acting-as">
      <label for="person">Acting as</label>
      {user && <Avatar user={user} size="small" />}
      <select
        id="person"
        value={person}
        onChange={({ currentTarget }) => dispatch({ kind: 'acts-as', person: currentTarget.value })}
      >
        {actorsOf({ users }).map(({ id, realName, role }) => (
          <option key={id} value={id}>
            {role === 'member' ? realName : `${realName} (${role})`}
          </option>
        ))}
      </select>
    </div>
  )
}
