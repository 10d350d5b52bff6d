import { CloseIcon } from '../look/icons.tsx'
import { useActs, useSlack } from '../store/workspace.tsx'

/** The last error, in a line at the top. */
export function Trouble() {
  const trouble = useSlack((state) => state.trouble)
  const { tell } = useActs()
  return (
    <div id="trouble" class="trouble" role="alert">
      {trouble !== null && (
        <>
          <p>{trouble}</p>
          <button id="trouble-close" class="icon" type="button" aria-label="Close this line" onClick={() => tell(null)}>
            <CloseIcon />
          </button>
        </>
      )}
    </div>
  )
}
