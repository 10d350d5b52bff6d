import { section } from '../../slack/messages/blocks.ts'
import { projectLabel } from '../../slack/messages/build.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { ProjectDeps, ShownProject } from './outcomes.ts'
import { resetAesKey } from './reset.ts'
import { answerReset } from './messages.ts'
import { runAndAnnounce } from './run-and-announce.ts'
import { textField, typedIn } from '../kit/fields.ts'
import { formView, oldForm, refusing, type Form, type Received, type ModalView } from '../kit/modal.ts'
import { nameIn, readMemory, writeMemory, TITLES } from './forms.ts'

export const RESET_CALLBACK_ID = 'project_reset'

const NAME_BLOCK = 'reset:name'

/** Asks for the project's name, since the old key cannot be restored. */
export const resetView = ({ project: { uuid, name } }: ShownProject, channel: ChannelId | null): ModalView =>
  formView({
    id: RESET_CALLBACK_ID,
    title: TITLES['reset-aes-key'],
    submit: 'Reset',
    metadata: writeMemory({ project: uuid!, name, channel, base: {}, part: null, rule: null }),
    blocks: [
      section(
        `:warning: *${projectLabel({ project: name })}* gets a new AES key. Nothing that was encrypted with the old key can be decrypted any more, and the old key cannot be restored.`,
      ),
      textField({ block: NAME_BLOCK, label: "Type the project's name to confirm" }),
    ],
  })

function receive(deps: ProjectDeps, body: unknown): Received {
  const memory = readMemory(body)
  if (!memory) return oldForm(TITLES['reset-aes-key'])
  const { project, name, channel } = memory
  if (nameIn(typedIn(body, NAME_BLOCK).trim()) !== name.trim())
    return refusing({ [NAME_BLOCK]: "this is not the project's name: type it as it is written above" })
  return runAndAnnounce(deps, body, 'reset-aes-key', () => ({
    channel,
    act: (by) => resetAesKey(deps, project, by),
    answer: answerReset,
  }))
}

export const projectResetForm = (deps: ProjectDeps): Form => ({
  what: 'the reset of an AES key',
  receive: (body) => receive(deps, body),
})
