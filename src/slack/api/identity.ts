import type { WebClient } from '@slack/web-api'
import { fieldOf } from '../../domain/raw-values.ts'
import { textOf } from './answer.ts'

/** Who we are in this workspace: what tells our own messages from everybody else's. */
export interface Identity {
  userId: string | null
  botId: string | null
}

/** `ask` asks Slack; `known` asks only until it has been answered once. Both throw what the client throws. */
export function identityOf(client: WebClient): { ask(): Promise<Identity>; known(): Promise<Identity> } {
  let answered: Identity | null = null
  const ask = async () => {
    const answer = await client.apiCall('auth.test')
    answered = { userId: textOf(fieldOf(answer, 'user_id')), botId: textOf(fieldOf(answer, 'bot_id')) }
    return answered
  }
  return { ask, known: async () => answered ?? ask() }
}
