import { isDeepStrictEqual } from 'node:util'
import { refusedByRates, type Call } from '../support/fake-notifier.ts'
import type { World } from './simulate.ts'
import type { Weather } from './weather.ts'

/** Checks Slack's limits, and that no call is useless. */
export function judgeCalls(world: World): string[] {
  return [...judgePace(world), ...(isSmooth(world) ? judgeSmooth(world) : [])]
}

/** If nothing went wrong, nothing is looked for, nothing is posted twice, and every edit changes something. */
const isSmooth = ({ scenario, processes, lost, frozen }: World): boolean =>
  isFair(scenario.weather) &&
  processes.deaths() === 0 &&
  scenario.processes === 1 &&
  scenario.chapters.length === 1 &&
  lost.length === 0 &&
  frozen.size === 0

const isFair = ({ trouble, refusals, closed, revoked }: Weather): boolean =>
  trouble === 0 && refusals === 0 && !closed && !revoked

function judgeSmooth({ stage: { slack }, cutOff }: World): string[] {
  const wrongs: string[] = []
  const said = new Map<string, unknown>()
  // The last process takes over at some moment, and then a slow answer to a call in flight reaches nobody. The bot must
  // look whether that message arrived, but no other one.
  for (const { name, key, view } of slack.calls.filter((call) => !isOf(call, cutOff))) {
    if (name !== 'post' && name !== 'edit') wrongs.push(`a ${name} where nothing had gone wrong`)
    if (name === 'post' && said.has(key!)) wrongs.push(`posted twice: ${key}`)
    if (name === 'edit' && isDeepStrictEqual(said.get(key!), view)) wrongs.push(`an edit that changes nothing: ${key}`)
    if (key !== null) said.set(key, view)
  }
  return wrongs
}

const isOf = ({ name, key }: Call, keys: ReadonlySet<string>): boolean =>
  key === null ? name === 'remove' && keys.size > 0 : keys.has(key)

/** One process keeps Slack's limits, even across restarts. Several processes do not know each other's calls. */
const judgePace = ({ scenario, stage: { slack } }: World): string[] =>
  scenario.processes > 1 ? [] : refusedByRates(slack.calls)
