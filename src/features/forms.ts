import { textAt } from './body.ts'
import type { FieldTold, Form, Received } from './form.ts'
import { FOLLOW_CALLBACK_ID, followForm } from './home/follow-view.ts'
import { CREATE_CALLBACK_ID, projectCreateForm } from './projects/create-form.ts'
import { EDIT_CALLBACK_ID } from './projects/edit-view.ts'
import { projectEditForm } from './projects/edit-form.ts'
import { projectResetForm, RESET_CALLBACK_ID } from './projects/reset-form.ts'
import { CREATE_SEND_CALLBACK_ID, projectCreateSendForm, projectSendForm, SEND_CALLBACK_ID } from './projects/send.ts'
import { SUBSCRIBE_CALLBACK_ID } from './subscriptions/form-view.ts'
import { subscribeForm } from './subscriptions/form.ts'

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
