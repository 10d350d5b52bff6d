import type { View } from '../store/wire.ts'
import { Blocks } from './blocks.tsx'

/** A home tab, or a note that the app has not published one. */
export function HomeTab({ view, appName }: { view: Pick<View, 'blocks'> | null; appName: string }) {
  return (
    <div id="home-blocks" class="home-tab">
      {view ? (
        <Blocks blocks={view.blocks} />
      ) : (
        <p class="muted">{appName} has published no home tab for this person.</p>
      )}
    </div>
  )
}
