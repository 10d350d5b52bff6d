import { join, relative } from 'node:path'
import type { Clock } from '../../../../src/lib/clock.ts'
import { createPanel } from '../panel/panel.ts'
import type { Scene } from '../../../sandbox-slack/src/panel-state.ts'
import type { SandboxSlack } from '../../../sandbox-slack/src/sandbox-slack.ts'
import type { Service } from '../service/service.ts'
import { startBot } from './bot.ts'
import { keepBot, type KeptBot } from './keeper.ts'
import { play } from './play.ts'
import { LOG, prepare } from './settings.ts'
import { watch } from './watch.ts'
import { introduction, introductionOnce } from './words.ts'

/** How a demo ends: with an exit code, or because somebody pressed Reset. */
export type End = { kind: 'over'; code: number } | { kind: 'reset'; isPlayed: boolean; ciPort: number }

export interface Round {
  /** opened already; stopped at the end */
  slack: SandboxSlack
  /** started and stopped here */
  ci: Service
  /** 0 takes any free one */
  ciPort: number
  /** of the database and the log; emptied */
  folder: string
  isOnce: boolean
  /** whether the scenario plays by itself */
  isPlayed: boolean
  clock: Clock
  /** aborts when the program is asked to end */
  interrupted: AbortSignal
}

/** One demo, from an empty database to its end. Nothing of it is left behind, whatever went wrong. */
export async function playRound(round: Round): Promise<End> {
  const { slack, ci, clock, folder } = round
  await ci.start(round.ciPort)
  const logFile = join(folder, LOG)
  const settings = prepare(folder, ci, slack)
  const start = (port: number) => startBot({ ...settings, PORT: String(port) }, logFile)
  const bot = await keepBot({ start, clock, tell: (line) => console.log(`  ! ${line}`) })
  ci.deliverTo(`http://127.0.0.1:${bot.port}`)
  slack.connectBot(`http://127.0.0.1:${bot.port}/slack/events`)
  const over = new AbortController()
  try {
    introduce(round, { bot, logFile: relative('', logFile) })
    const end = await untilOver(round, { bot, over: over.signal })
    over.abort()
    const exit = await bot.stop()
    if (exit !== 0) console.log(`The bot ended with ${exit}; its log is ${logFile}`)
    return end.kind === 'over' && exit !== 0 ? { kind: 'over', code: end.code || 1 } : end
  } finally {
    over.abort()
    await bot.stop()
    await Promise.all([ci.stop(), slack.stop()])
  }
}

function introduce({ slack, ci, isOnce, isPlayed }: Round, { bot, logFile }: { bot: KeptBot; logFile: string }): void {
  if (isOnce) console.log(introductionOnce(bot))
  else console.log(introduction({ slackUrl: slack.url, ci, logFile, isPlayed }, bot))
}

interface Playing {
  bot: KeptBot
  over: AbortSignal
}

/** Played to its end with `--once`; else until somebody ends it. An interrupted comparison has not agreed. */
function untilOver(round: Round, playing: Playing): Promise<End> {
  const { isOnce, isPlayed, interrupted } = round
  const scene: { now: Scene | null } = { now: null }
  const ends: Promise<End>[] = [
    aborted(interrupted).then(() => ({ kind: 'over', code: isOnce ? 1 : 0 })),
    playing.bot.givenUp.then((why) => {
      console.log(`${why} It is not started again.`)
      return { kind: 'over', code: 1 }
    }),
  ]
  if (!isOnce) ends.push(openPanel(round, playing, scene))
  const played = isPlayed ? playActs(round, playing, scene) : null
  if (isOnce && played) ends.push(played)
  return Promise.race(ends)
}

/** Answers a reset, if one is wanted. */
function openPanel({ slack, ci, clock }: Round, { bot, over }: Playing, scene: { now: Scene | null }): Promise<End> {
  return new Promise((resolve) => {
    const keeper = {
      watched: watch({ ci, slack, bot, clock }, over),
      scene: () => scene.now,
      pull: () => bot.pull(),
      plugIn: () => bot.plugIn(),
      reset: (isPlayed: boolean) => resolve({ kind: 'reset', isPlayed, ciPort: Number(new URL(ci.url).port) }),
    }
    slack.openPanel(createPanel({ ci, slack, keeper, clock }))
  })
}

async function playActs(
  { slack, ci, clock, isOnce }: Round,
  { over }: Playing,
  scene: { now: Scene | null },
): Promise<End> {
  const tell = (now: Scene | null) => void (scene.now = now)
  try {
    return { kind: 'over', code: await play({ ci, slack, clock: endingWith(over, clock), isOnce, tell }) }
  } catch (error) {
    // What was being played when all ended is of no interest any more.
    if (over.aborted) return { kind: 'over', code: 1 }
    throw error
  }
}

/** A clock whose `sleep` throws after `over`. */
const endingWith = (over: AbortSignal, clock: Clock): Clock => ({
  now: () => clock.now(),
  sleep: async (ms) => {
    await clock.sleep(ms, over)
    over.throwIfAborted()
  },
})

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
