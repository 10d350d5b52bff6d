import { setTimeout as sleep } from 'node:timers/promises'
import { both, compare, isAskLine, type Agreement } from '../../packages/demo/src/demo/agreement.ts'
import { cardsOf, messagesIn } from '../../packages/demo/src/stage.ts'
import type { Click, People } from './people.ts'
import { LATE_MAX_MS } from '../../src/features/kit/pending-interactions.ts'
import { CLICKED, FOLLOWED, isTaken, untakenBy, type Stage } from './stage.ts'

const LOOK_AGAIN_MS = 100

/** How long the last process may take until nothing waits. */
const SETTLED_MAX_MS = 180_000

/** Waits until every build has ended, CI has no delivery left, and nothing waits in the bot; then compares. */
export async function compareAll(stage: Stage, people: People): Promise<Agreement> {
  const untaken = await untilDelivered(stage)
  const told = () => FOLLOWED.map((one) => compareChannel(stage, one)).reduce(both)
  const clicked = () =>
    people
      .clicks()
      .map((click) => compareClick(stage, click))
      .reduce(both, NOTHING)
  await stage.repeated()
  const unsettled = await untilSettled(stage, () => clicked().lost.length === 0)
  const found = both(told(), both(clicked(), await compareStored(stage)))
  return { ...found, lost: [...untaken, ...found.lost], wrong: [...unsettled, ...found.wrong] }
}

const NOTHING: Agreement = { lost: [], doubled: [], wrong: [] }

/** CI gives up after a while; then each delivery is sent once more. */
async function untilDelivered({ ci }: Stage): Promise<string[]> {
  // Builds that only a click would have ended.
  for (const { uuid, status, branch } of ci.state().builds)
    if (status === 'initiated' && branch.startsWith(CLICKED.prefix)) ci.finish(uuid, 'success')
  for (let tries = 1; ; tries++) {
    while (ci.state().builds.some(({ status }) => status === 'initiated')) await sleep(LOOK_AGAIN_MS)
    await ci.settle()
    const untaken = untakenBy(ci)
    if (untaken.length === 0) return []
    if (tries === 3) return untaken.map(({ n, status }) => `delivery ${n} (${status}) was never taken`)
    for (const { n } of untaken) ci.resend(n)
  }
}

async function untilSettled(stage: Stage, isAnswered: () => boolean): Promise<string[]> {
  const until = Date.now() + SETTLED_MAX_MS
  while (Date.now() < until) {
    if (isAnswered() && (await waiting(stage)).length === 0) return []
    await sleep(LOOK_AGAIN_MS)
  }
  return (await waiting(stage)).map((queue) => `there still waits ${queue}`)
}

async function waiting(stage: Stage): Promise<string[]> {
  const text = await fetch(`${stage.botUrl()}/metrics`).then((response) => response.text())
  const queues = [...text.matchAll(/^buildline_backlog\{queue="(\w+)"\} (\d+)$/gm)]
  // The metrics can be late on a busy machine.
  if (queues.length === 0) return ['something: the metrics name no backlog']
  return queues.filter(([, , size]) => size !== '0').map(([line]) => line)
}

function compareChannel({ ci, slack }: Stage, { channel, prefix }: (typeof FOLLOWED)[number]): Agreement {
  const builds = ci.state().builds.filter(({ branch }) => branch.startsWith(prefix))
  return compare(builds, messagesIn(slack, channel))
}

/**
 * An acknowledged click has an answer, CI is called at most once for it, and then the thread has one line about it. It is
 * carried out, unless no process lived long enough within LATE_MAX_MS.
 */
function compareClick({ slack, ciWrites }: Stage, { button, user, build, at, isAcknowledged }: Click): Agreement {
  const found: Agreement = { lost: [], doubled: [], wrong: [] }
  const name = `${button} of ${build.project} #${build.id}`
  const messages = messagesIn(slack, CLICKED.channel)
  const [card] = cardsOf(messages, build)
  const lines = messages.filter((message) => message.threadTs === card?.ts && isAskLine(message))
  const calls = ciWrites.filter((path) => isAbout(path, button, build)).length
  const answers = slack
    .ephemerals(CLICKED.channel, user)
    .filter(({ message: { text } }) => text.includes(`#${build.id}`) || text.includes(NOT_STORED))
  if (calls > 1) found.doubled.push(`CI was asked ${calls} times: ${name}`)
  if (lines.length > 1) found.doubled.push(`the thread says ${lines.length} times who asked: ${name}`)
  if (calls > 0 && lines.length === 0) found.lost.push(`the thread does not say who asked: ${name}`)
  if (isAcknowledged && lines.length + answers.length === 0) found.lost.push(`nobody answered: ${name}`)
  const givenUp = answers.find(({ message: { text } }) => text.includes('Nothing was done'))
  if (isAcknowledged && givenUp && Number(givenUp.message.ts) * 1_000 < at + LATE_MAX_MS)
    found.lost.push(`acknowledged, and not carried out: ${name}`)
  return found
}

/** A click that could not be stored in time is not begun, and its answer names no build. */
const NOT_STORED = 'That did not work'

const isAbout = (path: string, button: Click['button'], { id, uuid }: Click['build']): boolean =>
  path.includes(button === 'Stop' ? '/stop' : '/restart') && (path.includes(`/${uuid}`) || path.includes(`/${id}/`))

/** Every acknowledged delivery is in the database, whether or not Slack shows it. */
async function compareStored(stage: Stage): Promise<Agreement> {
  const [stored, repeated] = [new Set(await stage.bodies()), new Set(await stage.repeatedEvents())]
  const lost = stage.ci
    .deliveries()
    .filter(({ attempts, body }) => attempts.some(isTaken) && !stored.has(body))
    .filter(({ buildId, status }) => !repeated.has(`${buildId} ${status}`))
    .map(({ n, buildId, status }) => `delivery ${n} (#${buildId} ${status}) was acknowledged, and is not stored`)
  return { ...NOTHING, lost }
}
