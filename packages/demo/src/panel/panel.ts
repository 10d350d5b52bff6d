import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { Clock } from '../../../../src/lib/clock.ts'
import { json, readCall, sendReply } from '../../../lib/http.ts'
import type { Call, Reply } from '../../../lib/http.ts'
import { parseJson } from '../../../lib/json.ts'
import type { PanelDoor } from '../../../sandbox-slack/src/panel-door.ts'
import type { SandboxSlack } from '../../../sandbox-slack/src/sandbox-slack.ts'
import type { Service } from '../service/service.ts'
import { breakSlack, slackBreakOf } from './breaks.ts'
import { ciShown } from './ci-shown.ts'
import { SLACK_BREAKS } from '../../../sandbox-slack/src/panel-state.ts'
import type { CiBreak, PanelState, Scene, Watched } from '../../../sandbox-slack/src/panel-state.ts'

/** What only the owner of the bot's process can see and do. */
export interface Keeper {
  watched(): Watched
  scene(): Scene | null
  /** SIGKILL; the bot stays down until it is plugged in again. */
  pull(): void
  plugIn(): void
  /** Ends this demo and begins another one, over a fresh database; `isPlayed`: the scenario plays in it. */
  reset(isPlayed: boolean): void
}

export interface PanelParts {
  ci: Service
  slack: SandboxSlack
  keeper: Keeper
  clock: Clock
}

/** How often the state is read. An unchanged state is not sent. */
const LOOK_MS = 250

/**
 * The page's other side: `/sandbox/ci/…` is the control interface of the service (its `/sandbox/…`), `/sandbox/panel/…`
 * controls the demo as a whole: `GET state`, `POST slack` and `ci` (break), `plug`, `reset`. What changes goes out as the
 * event `panel` of the page's stream.
 */
export function createPanel(parts: PanelParts): PanelDoor {
  const startedAt = parts.clock.now()
  const look = () => panelState(parts, startedAt)
  return {
    answer: (request, response, path) => answer(parts, look, { request, response, path }),
    follow: (tell, stopped) => void follow(parts.clock, look, tell, stopped),
  }
}

function panelState({ ci, slack, keeper, clock }: PanelParts, startedAt: number): PanelState {
  return {
    startedAt,
    now: clock.now(),
    ...ciShown(ci),
    slackBreak: slackBreakOf(slack),
    scene: keeper.scene(),
    watched: keeper.watched(),
  }
}

async function follow(
  clock: Clock,
  look: () => PanelState,
  tell: (event: string) => void,
  stopped: AbortSignal,
): Promise<void> {
  for (let told = ''; !stopped.aborted; await clock.sleep(LOOK_MS, stopped)) {
    const state = look()
    // A different time alone is not a change.
    const seen = JSON.stringify({ ...state, now: 0 })
    if (seen !== told) tell(`event: panel\ndata: ${JSON.stringify(state)}\n\n`)
    told = seen
  }
}

interface PanelCall {
  request: IncomingMessage
  response: ServerResponse
  path: string
}

async function answer(parts: PanelParts, look: () => PanelState, asked: PanelCall): Promise<void> {
  const read = await readCall(asked.request)
  if (read.kind === 'too-large') return sendReply(asked.response, json(413, { errors: ['the body is too large'] }))
  const { call } = read
  const rest = asked.path.replace(/^\/sandbox\//, '')
  if (rest.startsWith('ci/'))
    return sendReply(asked.response, await parts.ci.control({ ...call, path: `/sandbox/${rest.slice('ci/'.length)}` }))
  if (call.method === 'GET' && rest === 'panel/state') return sendReply(asked.response, json(200, look()))
  sendReply(asked.response, act(parts, call, rest))
}

const slackSchema = z.strictObject({ break: z.enum(SLACK_BREAKS) })
const ciSchema = (breaks: readonly CiBreak[]) => z.strictObject({ break: z.literal(breaks) })
const plugSchema = z.strictObject({ isIn: z.boolean() })
const resetSchema = z.strictObject({ isPlayed: z.boolean().default(false) })

function act({ ci, slack, keeper }: PanelParts, call: Call, what: string): Reply {
  if (call.method !== 'POST') return json(404, { errors: ['no such place'] })
  if (what === 'panel/slack') return obey(call, slackSchema, (wanted) => breakSlack(slack, wanted.break))
  if (what === 'panel/ci') return obey(call, ciSchema(ci.panel.breaks), (wanted) => ci.break(wanted.break))
  if (what === 'panel/plug') return obey(call, plugSchema, ({ isIn }) => (isIn ? keeper.plugIn() : keeper.pull()))
  if (what === 'panel/reset') return obey(call, resetSchema, ({ isPlayed }) => keeper.reset(isPlayed))
  return json(404, { errors: ['no such place'] })
}

function obey<Body>(call: Call, schema: z.ZodType<Body>, run: (body: Body) => void): Reply {
  const parsed = parseJson(call.text === '' ? '{}' : call.text)
  const body = schema.safeParse(parsed.kind === 'json' ? parsed.value : undefined)
  if (!body.success) return json(400, { errors: [z.prettifyError(body.error)] })
  run(body.data)
  return json(202, { done: true })
}
