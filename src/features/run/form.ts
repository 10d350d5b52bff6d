import * as z from 'zod'
import type { ChannelId } from '../../domain/ids.ts'
import { projectKey } from '../../domain/ci-project/project-names.ts'
import { escapePlain, toLine } from '../../lib/escape.ts'
import { projectLabel } from '../../slack/messages/build.ts'
import { cut } from '../../slack/messages/limits.ts'
import { section } from '../../slack/messages/blocks.ts'
import { formChannel, requesterIn, textAt } from '../kit/body.ts'
import type { Reply } from '../kit/context.ts'
import type { Requester } from '../../projects/outcomes.ts'
import {
  choiceField,
  chosenIn,
  fieldOption,
  INPUT_CHARS_MAX,
  OPTION_VALUE_CHARS_MAX,
  OPTIONS_MAX,
  textField,
  typedIn,
} from '../kit/fields.ts'
import { formView, oldForm, waitingView, working, type Form, type ModalView } from '../kit/modal.ts'
import { jsonOf, VALUE_CHARS_MAX } from '../kit/values.ts'
import type { StartInput } from '../../sources/source.ts'
import { type RunOutcome, isSecretName, type Wanted } from './run.ts'

export const RUN_CALLBACK_ID = 'run_build'
const TITLE = 'Run a build'
const REF_BLOCK = 'run:ref'
/** Slack's limit for a label is 2,000 characters; more than this is not readable beside a field. */
const LABEL_CHARS_MAX = 75
const blockOf = (place: number): string => `run:input:${place}`

const MEMORY = z.object({
  project: z.string(),
  /** the names of the inputs, in the order of their fields */
  names: z.array(z.string()),
})

/** The form with what was typed so far; null if there is too much for one. */
export function runView(
  { project, offered, wanted }: Extract<RunOutcome, { kind: 'faults' }>,
  channel: ChannelId | null,
): ModalView | null {
  const inputs = offered.inputs.filter(({ name }) => !isSecretName(name))
  const named = new Set(inputs.map(({ name }) => name))
  const metadata = JSON.stringify({ channel, project: projectKey(project), names: [...named] })
  const isWhole = Object.keys(wanted.values).every((name) => named.has(name))
  if (!isWhole || metadata.length > VALUE_CHARS_MAX) return null
  return formView({
    id: RUN_CALLBACK_ID,
    title: TITLE,
    submit: 'Run',
    metadata,
    blocks: [
      section(`*${projectLabel({ project: project.name })}*`),
      textField({ block: REF_BLOCK, label: 'Branch or tag' }, { initial: offered.place.ref }),
      ...inputs.map((input, place) => fieldFor(input, blockOf(place), wanted.values[input.name])),
    ],
  })
}

function fieldFor(
  { name, description, options, initial, isRequired }: StartInput,
  block: string,
  given: string | undefined,
): object {
  const hint = [description, initial === null ? null : `By default: ${initial}`].filter(Boolean).join(' · ')
  const field = {
    block,
    label: escapePlain(cut(toLine(name), LABEL_CHARS_MAX)) || '(no name)',
    hint: escapePlain(toLine(hint)),
    isOptional: !isRequired,
  }
  const isMenu =
    options.length > 0 && options.length <= OPTIONS_MAX && options.every((one) => one.length <= OPTION_VALUE_CHARS_MAX)
  if (isMenu)
    return choiceField(
      field,
      options.map((one) => fieldOption(one, one)),
      given ?? initial,
    )
  const value = given ?? initial ?? ''
  // A longer one counts by default; a cut one would be another one.
  return textField(field, { initial: value.length > INPUT_CHARS_MAX ? '' : value })
}

export const runForm = (run: (wanted: Wanted, by: Requester, reference: string) => Promise<Reply>): Form => ({
  what: 'a run',
  receive(body) {
    const memory = MEMORY.safeParse(jsonOf(textAt(body, 'view', 'private_metadata') ?? '')).data
    if (!memory) return oldForm(TITLE)
    const { project, names } = memory
    const given = names.map(
      (name, place) => [name, chosenIn(body, blockOf(place)) ?? typedIn(body, blockOf(place))] as const,
    )
    const values = Object.fromEntries(given.filter(([, value]) => value !== ''))
    const wanted = { project, ref: typedIn(body, REF_BLOCK).trim() || null, values }
    const by = requesterIn(body, formChannel(body))
    const meanwhile = waitingView(TITLE, 'Starting it …')
    return working(body, meanwhile, { what: 'run', by }, (reference) => run(wanted, by, reference))
  },
})
