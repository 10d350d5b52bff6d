import { useSlack } from '../store/workspace.tsx'

/** The two sides of an app: its home, and what it says to the person alone. */
export function AppTabs({ here }: { here: 'home' | 'messages' }) {
  const direct = useSlack(({ channels, person }) => directOf([...channels.values()], person))
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

/** The id of the direct channel between the app and a person; null before either wrote. */
export const directOf = (
  channels: readonly { id: string; kind: string; members: readonly string[] }[],
  person: string,
): string | null => channels.find(({ kind, members }) => kind === 'im' && members.includes(person))?.id ?? null
