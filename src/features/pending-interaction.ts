import type { Interaction } from '../domain/interaction.ts'
import type { Unanswered } from './unanswered.ts'

/** One ask that is written down, while it is under way: it is answered by whoever comes first, and by nobody else. */
export class Kept {
  readonly #interaction: Interaction
  readonly #unanswered: Unanswered
  #state: 'under way' | 'answering' | 'owed' | 'ended' | 'given up' = 'under way'

  constructor(interaction: Interaction, unanswered: Unanswered) {
    this.#interaction = interaction
    this.#unanswered = unanswered
  }

  /** when Slack sent it (ms) */
  get receivedAt(): number {
    return this.#interaction.receivedAt
  }

  get isGivenUp(): boolean {
    return this.#state === 'given up'
  }

  /** From here on the answer is being shown; false: the asker was told that it was interrupted. */
  beginAnswer(): boolean {
    if (this.isGivenUp) return false
    this.#state = 'answering'
    return true
  }

  async endAnswer(isShown: boolean): Promise<void> {
    this.#state = isShown ? 'ended' : 'owed'
    if (isShown) await this.#unanswered.settle(this.#interaction)
  }

  /** Whoever was at work has ended: what was not said to be owed needs no answer of ours. */
  async end(): Promise<void> {
    if (this.#state === 'owed') this.#unanswered.release(this.#interaction)
    else if (this.#state !== 'ended' && !this.isGivenUp) await this.endAnswer(true)
  }

  /** The process ends: the asker is told now, unless the answer is on its way already. */
  async giveUp(): Promise<void> {
    if (this.#state !== 'under way') return
    this.#state = 'given up'
    await this.#unanswered.giveUp(this.#interaction)
  }
}
