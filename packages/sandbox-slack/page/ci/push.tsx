import { useId, useState } from 'preact/hooks'
import { usePanel } from '../panel/panel-store.ts'
import { useDeed } from '../panel/use-deed.ts'
import { useWish } from '../panel/use-wish.ts'

/** How a build goes that somebody pushes: what is asked of CI. */
const ENDS: Record<string, { words: string; push: object }> = {
  open: { words: 'runs until you end it', push: { outcome: 'none' } },
  passes: { words: 'passes after 8 s', push: { outcome: 'success', ms: 8_000 } },
  fails: { words: 'fails after 8 s', push: { outcome: 'error', ms: 8_000 } },
  breaks: { words: 'meets a machine error after 8 s', push: { outcome: 'infrastructure_failure', ms: 8_000 } },
  queued: { words: 'waits 5 s in the queue, then passes', push: { outcome: 'success', waitingMs: 5_000, ms: 8_000 } },
  approval: { words: 'waits for an approval', push: { outcome: 'none', needsApproval: true } },
}

const STORM_BUILDS = 200

/** Commits, and what comes in numbers. */
export function Push() {
  const projects = usePanel((state) => state.projects) ?? []
  const isOverLimit = usePanel((state) => state.isOverLimit) ?? false
  const limit = useWish(isOverLimit, 'ci/switches', (overLimit) => ({ overLimit }))
  const [commit, setCommit] = useState({
    project: '',
    branch: 'main',
    message: 'Fix login',
    committer: 'Ada',
    end: 'open',
  })
  const { deed } = useDeed()
  const name = commit.project || (projects[0]?.name ?? '')
  const set = (change: Partial<typeof commit>) => setCommit({ ...commit, ...change })
  const push = (event: Event) => {
    event.preventDefault()
    const { branch, message, committer, end } = commit
    void deed(`ci/projects/${encodeURIComponent(name)}/push`, { branch, message, committer, ...ENDS[end]?.push })
  }
  const storm = () =>
    void deed(`ci/projects/${encodeURIComponent(name)}/storm`, { builds: STORM_BUILDS, failEvery: 10, ms: 20_000 })
  return (
    <section class="panel-part" aria-labelledby="ci-push-title">
      <h3 id="ci-push-title">Push a commit</h3>
      <form class="panel-row" onSubmit={push}>
        <Choice label="Project" value={name} onPick={(project) => set({ project })}>
          {projects.map((project) => (
            <option key={project.id} value={project.name}>
              {project.name} ({project.type === 'pro' ? 'Pro' : 'Basic'})
            </option>
          ))}
        </Choice>
        <Text label="Branch" value={commit.branch} onType={(branch) => set({ branch })} />
        <Text label="Committer" value={commit.committer} onType={(committer) => set({ committer })} />
        <Text label="Message" value={commit.message} onType={(message) => set({ message })} isWide />
        <Choice label="The build" value={commit.end} onPick={(end) => set({ end })}>
          {Object.entries(ENDS).map(([end, { words }]) => (
            <option key={end} value={end}>
              {words}
            </option>
          ))}
        </Choice>
        <button class="button primary ci-push" type="submit">
          Push
        </button>
      </form>
      <div class="panel-row" role="group" aria-label="Many builds">
        <button class="button panel-small" type="button" onClick={storm}>
          A storm of {STORM_BUILDS} builds
        </button>
        <button class="button panel-small" type="button" onClick={() => void deed('ci/nightly')}>
          Nightly builds
        </button>
      </div>
      <label class="panel-check">
        <input
          type="checkbox"
          checked={limit.value}
          onChange={({ currentTarget }) => limit.choose(currentTarget.checked)}
        />
        The account is over its monthly limit: what is pushed is not built
      </label>
    </section>
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
  children: preact.ComponentChildren
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
