import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { PanelState } from '../../src/panel-state.ts'
import { usePanel } from '../panel/panel-store.ts'
import { useDeed } from '../panel/use-deed.ts'
import { useWish } from '../panel/use-wish.ts'

const STORM_BUILDS = 200

/** Pushes a commit, a storm of commits or nightly builds. */
export function Push() {
  const service = usePanel((state) => state.service)
  const projects = usePanel((state) => state.projects) ?? []
  const [commit, setCommit] = useState({
    project: '',
    branch: 'main',
    message: 'Fix login',
    committer: 'Ada',
    end: 0,
  })
  const { deed } = useDeed()
  const name = commit.project || (projects[0]?.name ?? '')
  const set = (change: Partial<typeof commit>) => setCommit({ ...commit, ...change })
  const push = (event: Event) => {
    event.preventDefault()
    const { branch, message, committer, end } = commit
    void deed(`ci/projects/${encodeURIComponent(name)}/push`, {
      branch,
      message,
      committer,
      ...service?.ends[end]?.push,
    })
  }
  const storm = () =>
    void deed(`ci/projects/${encodeURIComponent(name)}/storm`, { builds: STORM_BUILDS, failEvery: 10, ms: 20_000 })
  if (service === null) return null
  return (
    <section class="panel-part" aria-labelledby="ci-push-title">
      <h3 id="ci-push-title">Push a commit</h3>
      <form class="panel-row" onSubmit={push}>
        <Choice label="Project" value={name} onPick={(project) => set({ project })}>
          {projects.map((project) => (
            <option key={project.id} value={project.name}>
              {project.name}
              {project.type !== null && (project.type === 'pro' ? ' (Pro)' : ' (Basic)')}
            </option>
          ))}
        </Choice>
        <Text label="Branch" value={commit.branch} onType={(branch) => set({ branch })} />
        <Text label="Committer" value={commit.committer} onType={(committer) => set({ committer })} />
        <Text label="Message" value={commit.message} onType={(message) => set({ message })} isWide />
        <Choice label={`The ${service.one}`} value={String(commit.end)} onPick={(end) => set({ end: Number(end) })}>
          {service.ends.map(({ words }, end) => (
            <option key={end} value={end}>
              {words}
            </option>
          ))}
        </Choice>
        <button class="button primary ci-push" type="submit">
          Push
        </button>
      </form>
      <div class="panel-row" role="group" aria-label={`Many ${service.many}`}>
        <button class="button panel-small" type="button" onClick={storm}>
          A storm of {STORM_BUILDS} {service.many}
        </button>
        {service.hasNightly && (
          <button class="button panel-small" type="button" onClick={() => void deed('ci/nightly')}>
            Nightly builds
          </button>
        )}
      </div>
      <Switch pick={(state) => state.isOverLimit} bodyFor={(overLimit) => ({ overLimit })}>
        The account is over its monthly limit: what is pushed is not built
      </Switch>
    </section>
  )
}

interface SwitchProps {
  pick: (state: PanelState) => boolean | null
  bodyFor: (isOn: boolean) => object
  children: ComponentChildren
}

/** One of the service's switches. Nothing is drawn if the service does not have it. */
export function Switch({ pick, bodyFor, children }: SwitchProps) {
  const kept = usePanel(pick)
  const { value, choose } = useWish(kept, 'ci/switches', (isOn) => bodyFor(isOn === true))
  if (kept === null) return null
  return (
    <label class="panel-check">
      <input type="checkbox" checked={value === true} onChange={({ currentTarget }) => choose(currentTarget.checked)} />
      {children}
    </label>
  )
}

interface TextProps {
  label: string
  value: string
  isWide?: boolean
  onType: (value: string) => void
}

export function Text({ label, value, isWide = false, onType }: TextProps) {
  const id = useId()
  return (
    <p class={isWide ? 'panel-field wide' : 'panel-field'}>
      <label for={id}>{label}</label>
      <input id={id} value={value} spellcheck={false} onInput={({ currentTarget }) => onType(currentTarget.value)} />
    </p>
  )
}

interface ChoiceProps {
  label: string
  value: string
  onPick: (value: string) => void
  children: ComponentChildren
}

export function Choice({ label, value, onPick, children }: ChoiceProps) {
  const id = useId()
  return (
    <p class="panel-field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onPick(currentTarget.value)}>
        {children}
      </select>
    </p>
  )
}
