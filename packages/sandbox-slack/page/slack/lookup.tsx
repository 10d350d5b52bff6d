import { useRef, useState } from 'preact/hooks'
import { CloseIcon } from '../look/icons.tsx'
import type { Option } from '../store/wire.ts'
import type { At } from './at.ts'

const TYPING_PAUSE_MS = 200
/** Slack asks the bot for options from this many characters on, unless the menu has `min_query_length`. */
const QUERY_LENGTH_MIN = 3

const isOption = (value: unknown): value is Option =>
  typeof value === 'object' && value !== null && 'value' in value && 'text' in value

/** A menu that gets its options from the bot as the person types. Enter takes the first; arrows reach the others. */
export function Lookup({ at }: { at: At }) {
  const [found, setFound] = useState<Option[] | null>(null)
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const asked = useRef(0)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const isSeveral = at.element.type.startsWith('multi_')
  const held = [at.held ?? []].flat().filter(isOption)

  const choose = (options: Option[]) => {
    const value = isSeveral ? options : (options[0] ?? null)
    setText('')
    at.put(value)
    at.tell(value)
    field.current?.focus()
    // Ignore the answers to what was asked before, and by this focus.
    asked.current += 1
    setFound(null)
  }
  const take = (option: Option) =>
    choose(isSeveral ? [...held.filter(({ value }) => value !== option.value), option] : [option])
  const ask = async (query: string) => {
    const turn = (asked.current += 1)
    if (Array.from(query).length < (at.element.min_query_length ?? QUERY_LENGTH_MIN)) return setFound(null)
    const options = await at.search(query)
    // Ignore the answer to an outdated query.
    if (turn === asked.current) setFound(options)
  }

  return (
    <div class="lookup" onKeyDown={(event) => moveByKey(event)}>
      <Chosen held={held} onRemove={(option) => choose(held.filter((other) => other !== option))} />
      <input
        {...at.attributes}
        ref={field}
        type="search"
        placeholder={at.element.placeholder?.text ?? 'Type to search'}
        autocomplete="off"
        value={text}
        onFocus={() => at.element.min_query_length === 0 && text === '' && void ask('')}
        onInput={({ currentTarget: { value } }) => {
          setText(value)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => void ask(value), TYPING_PAUSE_MS)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          if (found?.[0]) take(found[0])
        }}
      />
      {found && <Found options={found} onTake={take} />}
    </div>
  )
}

function Chosen({ held, onRemove }: { held: readonly Option[]; onRemove: (option: Option) => void }) {
  if (held.length === 0) return null
  return (
    <ul class="chosen" aria-label="Chosen">
      {held.map((option) => (
        <li key={option.value}>
          {option.text.text}
          <button
            type="button"
            class="icon"
            aria-label={`Take ${option.text.text} away`}
            onClick={() => onRemove(option)}
          >
            <CloseIcon size={14} />
          </button>
        </li>
      ))}
    </ul>
  )
}

function Found({ options, onTake }: { options: readonly Option[]; onTake: (option: Option) => void }) {
  return (
    <ul class="found" aria-label="Found">
      {options.length === 0 && <li class="muted small">No results</li>}
      {options.map((option) => (
        <li key={option.value}>
          <button type="button" data-value={option.value} onClick={() => onTake(option)}>
            {option.text.text}
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Moves the focus between the field and the options. */
function moveByKey(event: preact.TargetedKeyboardEvent<HTMLElement>): void {
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('input, .found button')]
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  const next = stops[stops.findIndex((stop) => stop === document.activeElement) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
