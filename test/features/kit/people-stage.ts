import { onTestFinished } from 'vitest'
import { attemptRefText } from '../../../src/domain/cards/request.ts'
import { createFeatures } from '../../../src/features/features.ts'
import type { SandboxSlack } from '../../../packages/sandbox-slack/src/sandbox-slack.ts'
import { turnedClock } from '../../../packages/sandbox-slack/test/stage.ts'
import { openStage as openOperations, type Built, type Changes, type Stage as Operations } from '../operations-stage.ts'
import { ada, BUILDS, button, openStage, postCard, until, type Stage, type StageOptions } from './stage.ts'

export interface PeopleStage extends Stage {
  behind: Operations
  /** Types `/ci …`, by default as Ada in #builds. @returns the answer */
  type(text: string, where?: { user?: string; channel?: string }): Promise<string>
  /** Shows people the newest card, which is of this build, with its Stop and Restart buttons. @returns its ts */
  showCard(built: Pick<Built, 'ref'>): Promise<string>
  /** the open modal of a person, as JSON */
  form(user?: string): string
  untilForm(words: string): Promise<void>
}

/**
 * People type, click and submit forms over signed HTTP, with all features on a real store and a sandbox CI. acme/web,
 * acme/api and acme/ios are known. Time stands still, so no answer is announced as slow.
 */
export async function openPeopleStage(changes: Changes = {}, options: StageOptions = {}): Promise<PeopleStage> {
  const behind = await openOperations()
  onTestFinished(() => behind[Symbol.asyncDispose]())
  const { deps } = behind.another(changes)
  const { store, permits } = deps
  const clock = turnedClock()
  const stage = await openStage({ store, permits, clock, features: createFeatures(deps), ...options })
  const { slack, told, untilTold } = stage
  const form = (user: string = ada) => JSON.stringify(slack.views.stack(user).at(-1) ?? {})
  return {
    ...stage,
    behind,
    async type(text, { user = ada, channel = BUILDS } = {}) {
      const before = told(user, channel).length
      await slack.people.runCommand({ user, channel, command: '/ci', text })
      return (await untilTold(before + 1, user, channel)).at(-1)!
    },
    async showCard({ ref }) {
      const value = attemptRefText(ref)
      const posted = await postCard(slack, [button('build_stop', value), button('build_restart', value)])
      const { ts } = behind.reconcile.slack.messages.findLast(({ view }) => view.kind === 'card')!
      const { messages } = slack.workspace.channels.get(BUILDS)!
      messages.set(ts, { ...messages.get(posted)!, ts })
      messages.delete(posted)
      return ts
    },
    form,
    untilForm: (words) => until(() => form().includes(words)),
  }
}

/** A click on the newest answer that Ada sees in #builds. */
export const press = (slack: SandboxSlack, actionId: string) =>
  slack.people.click({ user: ada, channel: BUILDS, ts: slack.ephemerals(BUILDS, ada).at(-1)!.message.ts, actionId })

/** A build that failed, and passed when it was restarted. */
export async function restartedUntilGreen({ behind }: Pick<PeopleStage, 'behind'>): Promise<void> {
  const { uuid } = await behind.ended('error')
  behind.ci.restart(uuid)
  await behind.deliver()
  await behind.clock.advance(60_000)
  behind.ci.finish(uuid, 'success')
  await behind.deliver()
}
