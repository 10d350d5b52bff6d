import { directOf } from '../store/direct.ts'
import { useSlack } from '../store/workspace.tsx'

/** The tabs of the app: its home, and its direct messages with the person. */
export function AppTabs({ here }: { here: 'home' | 'messages' }) {
  const direct = useSlack(({ channels, person, bot }) => directOf(channels, [person, bot.userId]))
  return (
    <nav class="tabs" aria-label="App">
      <a href="#home" aria-current={here === 'home' ? 'page' : undefined}>
        Home
      </a>
      {direct !== null && (
        <a href={`#${direct}`} aria-current={here === 'messages' ? 'page' : undefined}>
          Messages
        </a>
      )}
    </nav>
  )
}
