import { useEffect } from 'preact/hooks'
import { Avatar } from '../slack/avatar.tsx'
import { HomeTab } from '../slack/home-tab.tsx'
import { SceneProvider } from '../slack/scene.ts'
import type { View } from '../store/wire.ts'
import { useActs, useSlack } from '../store/workspace.tsx'
import { AppTabs } from './app-tabs.tsx'
import { useForm } from './use-form.ts'

/** The app's home tab for the acting person. It is always drawn, and hidden while something else is open. */
export function HomePane() {
  const isOpen = useSlack((state) => state.place.kind === 'home')
  const person = useSlack((state) => state.person)
  const bot = useSlack((state) => state.bot)
  const { perform } = useActs()
  // The app gets an event when the tab is opened, not each time that it is drawn.
  useEffect(() => {
    if (isOpen) void perform({ kind: 'open-home', user: person })
  }, [isOpen, person])
  return (
    <section id="home" class="pane" aria-labelledby="home-title" hidden={!isOpen}>
      <header class="pane-header">
        <Avatar user={{ id: bot.userId, realName: bot.name, role: 'bot' }} size="small" />
        <h2 id="home-title" tabIndex={-1}>
          {bot.name}
        </h2>
      </header>
      <AppTabs here="home" />
      <div class="pane-scroll">
        <Published key={person} person={person} appName={bot.name} />
      </div>
    </section>
  )
}

function Published({ person, appName }: { person: string; appName: string }) {
  const view = useSlack((state) => state.views[person]?.home ?? null)
  return view ? <OpenHome view={view} person={person} appName={appName} /> : <HomeTab view={null} appName={appName} />
}

function OpenHome({ view, person, appName }: { view: View; person: string; appName: string }) {
  const { scene } = useForm(view, person)
  return (
    <SceneProvider value={scene}>
      <HomeTab view={view} appName={appName} />
    </SceneProvider>
  )
}
