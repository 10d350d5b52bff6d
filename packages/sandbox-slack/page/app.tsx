import { useEffect } from 'preact/hooks'
import './look/layout.css'
import { useColours } from './look/theme.ts'
import { useHasPanels } from './panel/panel-store.ts'
import { ABOVE, LINE } from './panels.ts'
import { partnerIn } from './store/direct.ts'
import { useSlack, WorkspaceProvider } from './store/workspace.tsx'
import { AskProvider } from './workspace/ask.tsx'
import { ChannelPane } from './workspace/channel-pane.tsx'
import { Dock } from './workspace/dock.tsx'
import { HomePane } from './workspace/home-pane.tsx'
import { OpenModal } from './workspace/open-modal.tsx'
import { Sidebar } from './workspace/sidebar.tsx'
import { ThreadPane } from './workspace/thread-pane.tsx'
import { Topbar } from './workspace/topbar.tsx'
import { Trouble } from './workspace/trouble.tsx'

/** The whole page. */
export function App() {
  return (
    <WorkspaceProvider>
      <AskProvider>
        <Page />
      </AskProvider>
    </WorkspaceProvider>
  )
}

function Page() {
  const isLoaded = useSlack((state) => state.isLoaded)
  useColours(useSlack((state) => state.theme))
  return isLoaded ? <Loaded /> : <p class="loading">Opening the workspace…</p>
}

function Loaded() {
  const isHome = useSlack((state) => state.place.kind === 'home')
  const hasThread = useSlack(({ place, messages }) => messages.get(place.channel)?.has(place.thread ?? '') ?? false)
  const isDockWanted = useSlack((state) => state.dock !== null)
  const hasDock = useHasPanels() && isDockWanted
  const isMenuOpen = useSlack((state) => state.isMenuOpen)
  useTitle()
  const has = [hasThread && 'has-thread', hasDock && 'has-dock', isMenuOpen && 'has-menu', isHome && 'has-home']
  return (
    <div class={['page', ...has].filter(Boolean).join(' ')}>
      <a class="skip" href="#messages" onClick={skip}>
        Skip to the messages
      </a>
      <Topbar />
      <Trouble />
      <div class="columns">
        <Sidebar />
        <ChannelPane />
        <HomePane />
        <ThreadPane />
        {hasDock && <Dock />}
      </div>
      {LINE.length > 0 && (
        <footer class="line">
          {LINE.map((Part, index) => (
            <Part key={index} />
          ))}
        </footer>
      )}
      {ABOVE.map((Part, index) => (
        <Part key={index} />
      ))}
      <News />
      <OpenModal />
    </div>
  )
}

/** Sets the focus from script, because the URL's hash names the open channel, not an element. */
function skip(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#messages')?.focus()
}

/** New messages, for screen readers. */
function News() {
  const news = useSlack((state) => state.news)
  return (
    <p id="news" class="hidden" role="status">
      {news}
    </p>
  )
}

function useTitle(): void {
  const channel = useSlack(({ channels, place }) => channels.get(place.channel))
  const partner = useSlack(({ users, person }) => channel && partnerIn(channel, users, person)?.realName)
  const isHome = useSlack((state) => state.place.kind === 'home')
  const botName = useSlack((state) => state.bot.name)
  useEffect(() => {
    const name = partner ?? `#${channel?.name ?? ''}`
    document.title = `${isHome ? botName : name} · Sandbox Slack`
  }, [channel, partner, isHome, botName])
}
