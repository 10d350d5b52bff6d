import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Suggestion, Suggestions } from './suggest.ts'

interface SuggestionListProps {
  id: string
  offers: Suggestions
  active: number
  onTake: (one: Suggestion) => void
}

/** The suggestions above the field, or the command's arguments. The focus stays in the field. */
export function SuggestionList({ id, offers: { items, hint }, active, onTake }: SuggestionListProps) {
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [active, items.length])
  return (
    <div class="offers-box">
      <div id={id} ref={list} class="offers" role="listbox" aria-label="Suggestions" hidden={items.length === 0}>
        {items.map((one, index) => (
          <div
            key={one.words}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            // Keep the focus in the field during a click.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onTake(one)}
          >
            <Line one={one} />
          </div>
        ))}
      </div>
      {hint && (
        <p class="offers hint" role="status">
          <Line one={hint} />
        </p>
      )}
    </div>
  )
}

function Line({ one: { words, usage = '', more = '' } }: { one: Suggestion }) {
  return (
    <>
      <b>{words}</b>
      {usage && <span class="usage"> {usage}</span>}
      {more && <span class="muted small more-words">{more}</span>}
    </>
  )
}
