import { isDeepStrictEqual } from 'node:util'
import { refusedByRates, type Call } from '../support/fake-notifier.ts'
import type { World } from './simulate.ts'
import type { Weather } from './weather.ts'

/** Slack's limits, and no call in vain. */
export function judgeCalls(world: World): string[] {
  return [...judgePace(world), ...(isSmooth(world) ? judgeSmooth(world) : [])]
}

/** Nothing goes wrong at all: then nothing is looked for, nothing is said twice, and every edit changes something. */
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
  // The last process takes over at any moment, and a slow answer to what was being said then comes to nobody: whether it
  // arrived has to be looked at. Of all other messages nothing has.
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

/** One process keeps Slack's limits, across its deaths too. Several do not know of each other. */
const judgePace = ({ scenario, stage: { slack } }: World): string[] =>
  scenario.processes > 1 ? [] : refusedByRates(slack.calls)
