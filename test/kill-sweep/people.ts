import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { elementsOf } from '../../packages/sandbox-slack/src/elements.ts'
import { listOf } from '../../packages/sandbox-slack/src/json.ts'
import { cardsOf, messagesIn } from '../../packages/demo/src/stage.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { CLICKED, type Stage } from './stage.ts'

/** One click, when it was made (ms of the fast time). `isAcknowledged`: Slack got the bot's acknowledgement. */
export interface Click {
  button: 'Restart' | 'Stop'
  user: string
  build: { project: string; id: string; uuid: string }
  at: number
  isAcknowledged: boolean
}

/** People in #builds, who push a build and click a button as soon as its card is posted. */
export interface People {
  /** Pushes builds and clicks, one after the other, until the signal. */
  keepPressing(button: Click['button'], signal: AbortSignal): Promise<void>
  clicks(): readonly Click[]
}

const WHO = [PEOPLE.ada, PEOPLE.grace, PEOPLE.lin]
const LOOK_AGAIN_MS = 20

export function createPeople(stage: Stage): People {
  const clicks: Click[] = []
  let pushed = 0

  async function keepPressing(button: Click['button'], signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const build = push(button)
      const ts = await untilButton(build, button, signal)
      if (ts === null) return
      const click: Click = {
        button,
        user: WHO[pushed % WHO.length]!,
        build,
        at: stage.clock.now(),
        isAcknowledged: false,
      }
      clicks.push(click)
      const { kind, ...end } = await stage.slack.people.click({
        user: click.user,
        channel: CLICKED.channel,
        ts,
        actionId: ACTION_IDS[button === 'Stop' ? 'stop' : 'restart'],
      })
      click.isAcknowledged = kind === 'answered' && 'status' in end && end.status === 200
    }
  }

  // One build runs until somebody stops it, the other has failed at once.
  function push(button: Click['button']): Click['build'] {
    const ending = button === 'Stop' ? ({ outcome: 'none' } as const) : ({ outcome: 'error', ms: 0 } as const)
    const pushedAs = stage.ci.push('acme/web', { branch: `${CLICKED.prefix}${++pushed}`, ...ending })
    if (pushedAs.kind !== 'build') throw new Error(`CI did not build: ${pushedAs.kind}`)
    const { project, id, uuid } = pushedAs.build
    return { project, id, uuid }
  }

  async function untilButton(build: Click['build'], button: Click['button'], signal: AbortSignal) {
    while (!signal.aborted) {
      for (const card of cardsOf(messagesIn(stage.slack, CLICKED.channel), build)) if (has(card, button)) return card.ts
      await systemClock.sleep(LOOK_AGAIN_MS, signal)
    }
    return null
  }

  return { keepPressing, clicks: () => clicks }
}

function has({ blocks, attachments }: ReturnType<typeof messagesIn>[number], button: Click['button']): boolean {
  const elements = [...blocks, ...attachments.flatMap((one) => listOf(one['blocks']))].flatMap(elementsOf)
  return elements.some(({ action_id: id }) => id === ACTION_IDS[button === 'Stop' ? 'stop' : 'restart'])
}
