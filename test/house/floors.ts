import type { Import } from './imports.ts'

const FLOORS: readonly (readonly string[])[] = [
  ['lib'],
  ['domain'],
  ['store', 'http'],
  ['slack'],
  ['sources'],
  ['projects'],
  ['ci-sync'],
  ['alerts'],
  ['features', 'retention'],
  ['config'],
  ['runtime'],
  // Files directly in src are at the top.
  ['app', 'cli'],
]

/** The top folder of a file; `app` for files directly in src. */
export const roomOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : 'app')

const floorOf = (room: string): number => FLOORS.findIndex((rooms) => rooms.includes(room))

const isOurs = (file: string): boolean => /\.tsx?$/.test(file)

/** Every import in the wrong direction, described in words. */
export const breaches = (imports: readonly Import[]): string[] =>
  imports
    .filter(({ to }) => isOurs(to))
    .flatMap((one) => {
      const why = breachOf(roomOf(one.from), roomOf(one.to)) ?? featureBreach(one)
      return why ? [`${one.from} → ${one.to}: ${why}`] : []
    })

function breachOf(from: string, to: string): string | null {
  if (to.startsWith('..')) return 'a package of the workspace'
  if (floorOf(from) < 0) return `nobody knows the room ${from}`
  if (from === to) return null
  if (from === 'cli') return null
  if (floorOf(from) === floorOf(to)) return 'rooms of one floor'
  return floorOf(from) > floorOf(to) ? null : 'climbs'
}

const FEATURE = /^features\/(?!kit\/)(\w+)\//

/** Code that two features need belongs below them. */
function featureBreach({ from, to }: Import): string | null {
  const [own, other] = [FEATURE.exec(from)?.[1], FEATURE.exec(to)?.[1]]
  return own && other && own !== other ? 'a feature takes from another' : null
}

/** The implementations that only one place may choose. */
const IMPLEMENTATION =
  /^(?:store\/(?:open|sqlite|postgres)|alerts\/send\/slack-notifier|sources\/ci-service\/(?:client-\w+|transport|auth))\.ts$/

/** Where implementations are chosen: `app.ts`, and the files to which it delegates a part. */
const CHOOSERS = new Set(['main.ts', 'app.ts', 'runtime/engine.ts', 'runtime/clients.ts'])

export const choosers = (imports: readonly Import[]): string[] =>
  imports
    .filter(({ from, to, isType }) => !isType && IMPLEMENTATION.test(to) && roomOf(from) !== roomOf(to))
    .filter(({ from }) => !CHOOSERS.has(from) && roomOf(from) !== 'cli')
    .map(({ from, to }) => `${from} → ${to}`)

/** The cycles of imports, each once, as lists of files. Types count: files in a cycle of types belong together. */
export function circles(imports: readonly Import[]): string[] {
  const next = Map.groupBy(
    imports.filter(({ to }) => isOurs(to)),
    ({ from }) => from,
  )
  const found = new Set<string>()
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) return void found.add(path.slice(path.indexOf(file)).toSorted().join(' ↔ '))
    if (done.has(file)) return
    for (const { to } of next.get(file) ?? []) walk(to, [...path, file])
    done.add(file)
  }
  for (const file of next.keys()) walk(file, [])
  return [...found]
}
