import { textAt } from '../body.ts'
import type { FieldTold, Form, Received } from './form.ts'
import { FOLLOW_CALLBACK_ID, followForm } from './home-follow.ts'
import { CREATE_CALLBACK_ID, projectCreateForm } from './project-create.ts'
import { EDIT_CALLBACK_ID } from './project-edit-view.ts'
import { projectEditForm } from './project-edit.ts'
import { projectResetForm, RESET_CALLBACK_ID } from './project-reset.ts'
import { CREATE_SEND_CALLBACK_ID, projectCreateSendForm, projectSendForm, SEND_CALLBACK_ID } from './project-send.ts'
import { SUBSCRIBE_CALLBACK_ID } from './subscribe-form.ts'
import { subscribeForm } from './subscribe.ts'

/** Every form by its `callback_id`. */
export const FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([
  [SUBSCRIBE_CALLBACK_ID, subscribeForm],
  [FOLLOW_CALLBACK_ID, followForm],
  [EDIT_CALLBACK_ID, projectEditForm],
  [SEND_CALLBACK_ID, projectSendForm],
  [CREATE_CALLBACK_ID, projectCreateForm],
  [CREATE_SEND_CALLBACK_ID, projectCreateSendForm],
  [RESET_CALLBACK_ID, projectResetForm],
])

/** What a submission comes to. Of a form that an older version drew, whoever sends it in sees it close. */
export const receiveForm = (body: unknown): Received => formOf(body)?.receive(body) ?? { ack: null, work: null }

export const formOf = (body: unknown): Form | null => FORMS.get(textAt(body, 'view', 'callback_id') ?? '') ?? null

/** What a field of an open form does; null: nobody knows it. */
export const fieldToldBy = (actionId: string): FieldTold | null =>
  [...FORMS.values()].map(({ actions }) => actions?.get(actionId)).find((told) => told !== undefined) ?? null
