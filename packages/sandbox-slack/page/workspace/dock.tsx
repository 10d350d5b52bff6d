import { CloseIcon } from '../look/icons.tsx'
import { DOCK } from '../panels.ts'
import { useActs, useSlack } from '../store/workspace.tsx'

/** The open panel beside the conversation. */
export function Dock() {
  const open = useSlack((state) => state.dock)
  const { dispatch } = useActs()
  const panel = DOCK.find(({ id }) => id === open)
  if (!panel) return null
  const { Body, id, title } = panel
  return (
    <section id="dock" class="dock pane" aria-labelledby="dock-title">
      <header class="pane-header">
        <h2 id="dock-title">{title}</h2>
        <button
          class="icon pane-close"
          type="button"
          aria-label={`Close ${title}`}
          onClick={() => dispatch({ kind: 'dock', panel: null })}
        >
          <CloseIcon />
        </button>
      </header>
      <div class="dock-body" key={id}>
        <Body />
      </div>
    </section>
  )
}
