import type {
  ApiTestResponse,
  AppsConnectionsOpenResponse,
  AuthTestResponse,
  ChatDeleteResponse,
  ChatGetPermalinkResponse,
  ChatPostEphemeralResponse,
  ChatPostMessageResponse,
  ChatUpdateResponse,
  ConversationsHistoryResponse,
  ConversationsInfoResponse,
  ConversationsJoinResponse,
  ConversationsListResponse,
  ConversationsMembersResponse,
  ConversationsOpenResponse,
  ConversationsRepliesResponse,
  FilesCompleteUploadExternalResponse,
  FilesGetUploadURLExternalResponse,
  ReactionsAddResponse,
  UsergroupsListResponse,
  UsergroupsUsersListResponse,
  UsersConversationsResponse,
  UsersInfoResponse,
  UsersListResponse,
  UsersLookupByEmailResponse,
  ViewsOpenResponse,
  ViewsPublishResponse,
  ViewsPushResponse,
  ViewsUpdateResponse,
} from '@slack/web-api'
import { expect, test } from 'vitest'
import { METHODS } from '../src/methods/index.ts'
import type { Methods } from '../src/methods/index.ts'

/** The answers as Slack's own package describes them. */
interface Responses {
  'api.test': ApiTestResponse
  'apps.connections.open': AppsConnectionsOpenResponse
  'auth.test': AuthTestResponse
  'chat.delete': ChatDeleteResponse
  'chat.getPermalink': ChatGetPermalinkResponse
  'chat.postEphemeral': ChatPostEphemeralResponse
  'chat.postMessage': ChatPostMessageResponse
  'chat.update': ChatUpdateResponse
  'conversations.history': ConversationsHistoryResponse
  'conversations.info': ConversationsInfoResponse & Restricted
  'conversations.join': ConversationsJoinResponse & Restricted
  'conversations.list': ConversationsListResponse
  'conversations.members': ConversationsMembersResponse
  'conversations.open': ConversationsOpenResponse
  'conversations.replies': ConversationsRepliesResponse
  'files.completeUploadExternal': FilesCompleteUploadExternalResponse
  'files.getUploadURLExternal': FilesGetUploadURLExternalResponse
  'reactions.add': ReactionsAddResponse
  'usergroups.list': UsergroupsListResponse
  'usergroups.users.list': UsergroupsUsersListResponse
  'users.conversations': UsersConversationsResponse
  'users.info': UsersInfoResponse
  'users.list': UsersListResponse
  'users.lookupByEmail': UsersLookupByEmailResponse
  'views.open': ViewsOpenResponse
  'views.publish': ViewsPublishResponse
  'views.push': ViewsPushResponse
  'views.update': ViewsUpdateResponse
}

/** On Slack's page of the conversation object, but not in the package. */
interface Restricted {
  channel?: { properties?: { posting_restricted_to?: object; threads_restricted_to?: object } }
}

/** What the app sent comes back as it was sent, so that the sandbox knows no type of it: this fits any. */
type Sent = never

/** The answer's type as far as the sandbox makes it. */
type Known<Value> = Value extends readonly (infer Item)[]
  ? Known<Item>[]
  : Value extends object
    ? string extends keyof Value
      ? Sent
      : { [Name in keyof Value]: Known<Value[Name]> }
    : Value

type Answer<Name extends keyof Responses> = { ok: true } & Known<ReturnType<Methods[Name]['run']>>

/** An answer of which nothing is known fits nothing. */
type Fits<Given, Expected> = [Given] extends [never] ? false : [Given] extends [Expected] ? true : false

// The compiler refuses this list when an answer does not fit.
const FITTING: { [Name in keyof Responses]: Fits<Answer<Name>, Responses[Name]> extends true ? true : never } = {
  'api.test': true,
  'apps.connections.open': true,
  'auth.test': true,
  'chat.delete': true,
  'chat.getPermalink': true,
  'chat.postEphemeral': true,
  'chat.postMessage': true,
  'chat.update': true,
  'conversations.history': true,
  'conversations.info': true,
  'conversations.join': true,
  'conversations.list': true,
  'conversations.members': true,
  'conversations.open': true,
  'conversations.replies': true,
  'files.completeUploadExternal': true,
  'files.getUploadURLExternal': true,
  'reactions.add': true,
  'usergroups.list': true,
  'usergroups.users.list': true,
  'users.conversations': true,
  'users.info': true,
  'users.list': true,
  'users.lookupByEmail': true,
  'views.open': true,
  'views.publish': true,
  'views.push': true,
  'views.update': true,
}

test("every answer is of the type that Slack's own package gives it", () => {
  expect(Object.keys(FITTING)).toEqual([...METHODS.keys()].toSorted())
})

test('an answer with one field of another type is not', () => {
  type User = Answer<'users.info'>['user']
  const asItIs: Fits<{ ok: true; user: User }, UsersInfoResponse> = true
  const numbered: Fits<{ ok: true; user: Omit<User, 'id'> & { id: number } }, UsersInfoResponse> = false
  const unknown: Fits<Known<{ ok: true; [field: string]: unknown }>, UsersInfoResponse> = false
  expect([asItIs, numbered, unknown]).toEqual([true, false, false])
})
