import { useRef } from 'preact/hooks'
import type { Block, Element, Value } from '../store/wire.ts'
import type { At } from './at.ts'
import { isGroup, itemsOf, keyOfValue, valueNameOf } from './field-kinds.ts'
import type { Item } from './field-kinds.ts'
import { Lookup } from './lookup.tsx'
import { useScene } from './scene.ts'
import type { Scene } from './scene.ts'
import './fields.css'

/** The state of a field that is not in a form. */
export interface OwnKeeping {
  held: Value
  put(value: Value): void
  tell(value: Value): void
}

/** A field of any type. */
export function Field({ element, block, own }: { element: Element; block: Block; own?: OwnKeeping }) {
  const scene = useScene()
  const at = atOf(element, block, scene, own)
  const { type } = element
  if (type.endsWith('_input')) return <Typed at={at} />
  if (type.includes('external')) return <Lookup at={at} />
  if (type.endsWith('picker')) return <Picked at={at} />
  return isGroup(element) ? <Choices at={at} /> : <Select at={at} />
}

function atOf(element: Element, block: Block, scene: Scene, own: OwnKeeping | undefined): At {
  const { form } = scene
  const name = valueNameOf(element)
  const kept = own?.held ?? form?.held(element, block) ?? {}
  const toValue = (value: unknown): Value => ({ type: element.type, [name]: value })
  return {
    element,
    attributes: attributesOf(element, block, form?.errors[block.block_id ?? '']),
    name,
    held: kept[name] ?? null,
    tellsAtOnce: own !== undefined || block.type !== 'input' || block.dispatch_action === true,
    put: (value) => (own ? own.put(toValue(value)) : form?.put(element, block, toValue(value))),
    tell: (value) => (own ? own.tell(toValue(value ?? kept[name] ?? null)) : form?.tell(element, block)),
    search: (text) => scene.search(element, block, text),
    scene,
  }
}

export const idOf = (block: Block, part: string): string => `${part}-${block.block_id}`

function attributesOf(element: Element, block: Block, error: string | undefined): At['attributes'] {
  const isInput = block.type === 'input'
  const described = [isInput && block.hint && idOf(block, 'hint'), error && idOf(block, 'error')].filter(Boolean)
  return {
    ...(isInput
      ? { id: idOf(block, 'field'), 'aria-labelledby': idOf(block, 'label') }
      : { 'aria-label': element.placeholder?.text ?? element.type.replaceAll('_', ' ') }),
    ...(described.length > 0 ? { 'aria-describedby': described.join(' ') } : {}),
    ...(error ? { 'aria-invalid': 'true' } : {}),
    ...(element.focus_on_load ? { 'data-focus': 'true' } : {}),
    'data-action-id': element.action_id,
    'data-key': `${block.block_id}/${element.action_id}`,
  }
}

/** How long typing must pause before a request is sent. */
const TYPING_PAUSE_MS = 300

const textOf = (held: unknown): string => (typeof held === 'string' || typeof held === 'number' ? String(held) : '')

function Typed({ at }: { at: At }) {
  const { element, attributes, held, put, tell } = at
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef(tell)
  latest.current = tell
  const tellsOn = element.dispatch_action_config?.trigger_actions_on ?? ['on_enter_pressed']
  const shared = {
    ...attributes,
    placeholder: element.placeholder?.text,
    autocomplete: 'off' as const,
    value: textOf(held),
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
      put(currentTarget.value === '' ? null : currentTarget.value)
      clearTimeout(timer.current)
      if (!tellsOn.includes('on_character_entered')) return
      timer.current = setTimeout(() => latest.current(), TYPING_PAUSE_MS)
    },
  }
  if (element.multiline) return <textarea rows={4} {...shared} />
  return (
    <input
      {...shared}
      type="text"
      inputMode={keyboardOf(element)}
      onKeyDown={(event) => {
        const isEnter = event.key === 'Enter' && !event.isComposing
        if (!isEnter || !at.tellsAtOnce || !tellsOn.includes('on_enter_pressed')) return
        event.preventDefault()
        tell()
      }}
    />
  )
}

/** The keyboard of a phone. The sandbox checks the input, with Slack's error messages. */
function keyboardOf({
  type,
  is_decimal_allowed: isDecimal,
}: Element): 'email' | 'url' | 'decimal' | 'numeric' | 'text' {
  if (type === 'email_text_input') return 'email'
  if (type === 'url_text_input') return 'url'
  if (type === 'number_input') return isDecimal ? 'decimal' : 'numeric'
  return 'text'
}

function Select({ at: { element, attributes, held, put, tell, scene } }: { at: At }) {
  const items = itemsOf(element, scene)
  const index = items.findIndex(({ key }) => key === keyOfValue(held))
  return (
    <select
      {...attributes}
      value={index === -1 ? '' : String(index)}
      onChange={({ currentTarget: { value } }) => {
        const chosen = value === '' ? null : (items[Number(value)]?.value ?? null)
        put(chosen)
        tell(chosen)
      }}
    >
      <option value="">{element.placeholder?.text ?? 'Choose…'}</option>
      <Options items={items} />
    </select>
  )
}

function Options({ items }: { items: readonly Item[] }) {
  const groups = [...new Set(items.map(({ group }) => group))]
  return groups.map((group) => {
    const members = items.flatMap((item, index) =>
      item.group === group ? (
        <option key={index} value={String(index)}>
          {item.words}
        </option>
      ) : (
        []
      ),
    )
    return group === undefined ? (
      members
    ) : (
      <optgroup key={group} label={group}>
        {members}
      </optgroup>
    )
  })
}

function Choices({ at: { element, attributes, held, put, tell, scene } }: { at: At }) {
  const { 'data-key': fieldKey, ...shared } = attributes
  const items = itemsOf(element, scene)
  const isRadio = element.type === 'radio_buttons'
  const kept = new Set([held ?? []].flat().map(keyOfValue))
  const choose = (key: string, isOn: boolean) => {
    const keys = isRadio ? new Set<unknown>([key]) : new Set([...kept].filter((one) => one !== key))
    if (isOn) keys.add(key)
    const chosen = items.filter((item) => keys.has(item.key)).map(({ value }) => value)
    const value = isRadio ? (chosen[0] ?? null) : chosen
    put(value)
    tell(value)
  }
  return (
    <div {...shared} role={isRadio ? 'radiogroup' : 'group'} class="choices-list">
      {items.map(({ key, words, more }) => (
        <label key={key} class="choice">
          <input
            type={isRadio ? 'radio' : 'checkbox'}
            name={String(fieldKey)}
            checked={kept.has(key)}
            data-key={`${String(fieldKey)}/${key}`}
            onChange={({ currentTarget }) => choose(key, currentTarget.checked)}
          />
          <span>
            {words}
            {more !== undefined && <small>{more}</small>}
          </span>
        </label>
      ))}
    </div>
  )
}

const MINUTE_MS = 60_000

/** Slack stores a moment in seconds. A browser's field has it in the reader's time zone. */
const toSeconds = (text: string): number => Math.floor(new Date(text).getTime() / 1_000)
function fromSeconds(held: unknown): string {
  if (typeof held !== 'number') return ''
  const at = new Date(held * 1_000)
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16)
}

const PICKER_TYPES = {
  datepicker: 'date',
  timepicker: 'time',
  datetimepicker: 'datetime-local',
} as const

const pickerType = ({ type }: Element) =>
  type === 'datepicker' || type === 'timepicker' ? PICKER_TYPES[type] : PICKER_TYPES.datetimepicker

function Picked({ at: { element, attributes, held, put, tell } }: { at: At }) {
  const isMoment = element.type === 'datetimepicker'
  return (
    <input
      {...attributes}
      type={pickerType(element)}
      value={isMoment ? fromSeconds(held) : textOf(held)}
      onChange={({ currentTarget: { value } }) => {
        const picked = isMoment ? toSeconds(value) : value
        put(value === '' ? null : picked)
        tell(value === '' ? null : picked)
      }}
    />
  )
}
