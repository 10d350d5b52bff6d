import type { Random } from '../simulation/random.ts'
import type { Moment, Verdict } from './tap.ts'

/** Where a tap sits. `door`: CI and Slack call the bot · `slack` and `ci`: the bot calls them. */
export type Gate = 'door' | 'slack' | 'ci'

/**
 * Where a process is killed. `passage`: at the nth request of this kind that reaches the moment, since its start ·
 * `start`: at these fractions (0 to 1) of its start, once for each · `up`: when its endpoints are open · `any`: so
 * many ms after that.
 */
export type Point = { kind: string; press?: 'Restart' | 'Stop' } & (
  | { at: 'passage'; gate: Gate; path: RegExp; moment: Moment; verdict: Verdict; nth: number; afterMs: number }
  | { at: 'start'; parts: readonly number[] }
  | { at: 'up' }
  | { at: 'any'; afterMs: number }
)

type Draw = (random: Random, nthMax: number) => Point

/**
 * Draws points: each kind equally often, in an order that the seed decides.
 * @param nthMax the greatest n of an nth request, since a small burst has no more requests
 * @param part only kinds with this in their name
 */
export function drawPoints(count: number, random: Random, nthMax = Number.POSITIVE_INFINITY, part = ''): Point[] {
  const points: Point[] = []
  while (points.length < count) {
    const all = shuffled(KINDS, random).map((draw) => draw(random, nthMax))
    const some = all.filter(({ kind }) => kind.includes(part))
    if (some.length === 0) throw new Error(`no kind of point is called ${part}`)
    points.push(...some)
  }
  return points.slice(0, count)
}

/** How long after the start of a transaction a kill may come (ms): during it and its sync. */
const INSIDE_MAX_MS = 4

/** When a call takes effect after its process died, still within the landing time (ms of the fast time). */
const LATE_MS = [1_000, 5_000] as const

const MOMENTS = {
  dropped: 'has arrived, and is lost',
  late: 'has arrived, and lands later',
  done: 'is done, and not answered',
  answered: 'is answered',
} as const

const call =
  (what: string, gate: Gate, path: RegExp, most: number) =>
  (how: keyof typeof MOMENTS): Draw =>
  (random, nthMax) => ({
    kind: `${what} ${MOMENTS[how]}`,
    at: 'passage',
    gate,
    path,
    moment: how === 'done' || how === 'answered' ? how : 'arrived',
    verdict: how === 'late' ? { lateMs: random.between(...LATE_MS) } : how === 'answered' ? 'pass' : 'drop',
    nth: random.between(1, Math.min(most, nthMax)),
    afterMs: 0,
  })

const delivery = call('a delivery', 'door', /^\/webhooks\//, 4)
const postOf = call('chat.postMessage', 'slack', /\/chat\.postMessage$/, 6)
const editOf = call('chat.update', 'slack', /\/chat\.update$/, 3)
const lookOf = call('conversations.history or .replies', 'slack', /\/conversations\.(?:history|replies)/, 2)

const deliveryInside: Draw = (random, nthMax) => ({
  ...(delivery('answered')(random, nthMax) as Extract<Point, { at: 'passage' }>),
  kind: 'a delivery is being recorded',
  moment: 'sent',
  afterMs: random.next() * INSIDE_MAX_MS,
})

const clicked = (button: 'Restart' | 'Stop', gate: Gate, what: string, how: keyof typeof MOMENTS): Draw => {
  const path = gate === 'door' ? /^\/slack\/events/ : button === 'Stop' ? /\/stop\b/ : /\/restart\b/
  return (random) => ({ ...call(`${button}: ${what}`, gate, path, 1)(how)(random, 1), press: button })
}

/** Between the acknowledgement and CI's call, rights are looked up in Slack, and the build in CI. */
const BEFORE_CALL_MAX_MS = 80

const clickBegun =
  (button: 'Restart' | 'Stop'): Draw =>
  (random) => ({
    ...(clicked(button, 'door', 'the click', 'answered')(random, 1) as Extract<Point, { at: 'passage' }>),
    kind: `${button}: the click is answered, and begun`,
    press: button,
    afterMs: random.next() * BEFORE_CALL_MAX_MS,
  })

const rightsAsked = (button: 'Restart' | 'Stop'): Draw => {
  const draw = call(`${button}: the look-up of the person's rights`, 'slack', /\/users\.info/, 1)('dropped')
  return (random) => ({ ...draw(random, 1), press: button })
}

const KINDS: readonly Draw[] = [
  deliveryInside,
  delivery('done'),
  delivery('answered'),
  ...(['dropped', 'late', 'done', 'answered'] as const).flatMap((how) => [postOf(how), editOf(how)]),
  ...(['dropped', 'done', 'answered'] as const).map(lookOf),
  ...(['Restart', 'Stop'] as const).flatMap((button) => [
    clicked(button, 'door', 'the click', 'answered'),
    clickBegun(button),
    rightsAsked(button),
    ...(['dropped', 'done', 'answered'] as const).map((how) => clicked(button, 'ci', 'the call to CI', how)),
  ]),
  (random) => ({ kind: 'during its start', at: 'start', parts: [random.next()] }),
  (random) => ({ kind: 'during its start, twice in a row', at: 'start', parts: [random.next(), random.next()] }),
  () => ({ kind: 'its doors have just opened', at: 'up' }),
  () => ({ ...FIRST_CALL, kind: 'its first call to Slack' }),
  (random) => ({ kind: 'at any moment', at: 'any', afterMs: random.between(0, 1_000) }),
]

const FIRST_CALL = {
  at: 'passage',
  gate: 'slack',
  path: /\/(?:chat|conversations)\./,
  moment: 'done',
  verdict: 'drop',
  nth: 1,
  afterMs: 0,
} as const

function shuffled<T>(all: readonly T[], random: Random): T[] {
  return all
    .map((one) => ({ one, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one)
}
