import { useEffect, useReducer } from 'preact/hooks'
import type { PanelBuild, PanelService } from '../../src/panel-state.ts'
import { serverNow, usePanel } from '../panel/panel-store.ts'
import { useDeed } from '../panel/use-deed.ts'

/** CI's unfinished builds, and the last finished ones. */
export function Builds() {
  const service = usePanel((state) => state.service)
  const builds = usePanel((state) => state.builds) ?? []
  const unfinished = usePanel((state) => state.unfinishedTotal) ?? 0
  const total = usePanel((state) => state.buildsTotal) ?? 0
  useTicks(unfinished > 0)
  if (service === null) return null
  return (
    <section class="panel-part" aria-labelledby="ci-builds-title">
      <h3 id="ci-builds-title">
        {headingOf(service)}{' '}
        <span class="panel-note">
          {unfinished} running or waiting, {total} in all
        </span>
      </h3>
      {builds.length === 0 && <p class="panel-note">None yet. Push a commit.</p>}
      <ul class="panel-list">
        {builds.map((build) => (
          <BuildRow key={build.uuid} build={build} />
        ))}
      </ul>
      {total > builds.length && <p class="panel-note">… and {total - builds.length} that are not shown here.</p>}
    </section>
  )
}

/** The heading of the list, in the service's word: `Builds`, `Runs`. */
export const headingOf = ({ many }: PanelService): string => many.charAt(0).toUpperCase() + many.slice(1)

function BuildRow({ build }: { build: PanelBuild }) {
  const { project, id, branch, committer, message, status, word, attempt } = build
  const name = `${project} #${id}`
  return (
    <li class={`ci-build ${status}`} aria-label={`${name}, ${word}`}>
      <p class="ci-build-line">
        <strong>{name}</strong> <span class="ci-status">{word}</span>
        {attempt > 1 && <span class="panel-note"> attempt {attempt}</span>}
      </p>
      <p class="panel-note ci-cut">
        {branch} · {committer}: {message}
      </p>
      {status === 'initiated' && <Progress build={build} name={name} />}
      <Buttons build={build} name={name} />
    </li>
  )
}

function Progress({ build: { startedAt, runMs }, name }: { build: PanelBuild; name: string }) {
  const label = `Progress of ${name}`
  // A build that runs until somebody ends it has no known progress.
  if (runMs === null || startedAt === null) return <progress class="ci-progress" aria-label={label} />
  const part = Math.min(1, Math.max(0, (serverNow() - startedAt) / Math.max(1, runMs)))
  return <progress class="ci-progress" aria-label={label} max={1} value={part} />
}

function Buttons({ build: { uuid, buttons }, name }: { build: PanelBuild; name: string }) {
  const { deed, isBusy } = useDeed()
  return (
    <div class="panel-row ci-buttons" role="group" aria-label={`What becomes of ${name}`}>
      {buttons.map(({ words, path, body }) => (
        <button
          key={words}
          class="button panel-small"
          type="button"
          disabled={isBusy}
          onClick={() => void deed(`ci/builds/${uuid}/${path}`, body)}
        >
          {words}
          <span class="hidden"> {name}</span>
        </button>
      ))}
    </div>
  )
}

const TICK_MS = 250

/** Redraws the progress bars as time passes. */
function useTicks(isTicking: boolean): void {
  const [, tick] = useReducer<number, null>((count) => count + 1, 0)
  useEffect(() => {
    if (!isTicking) return
    const timer = setInterval(() => tick(null), TICK_MS)
    return () => clearInterval(timer)
  }, [isTicking])
}
