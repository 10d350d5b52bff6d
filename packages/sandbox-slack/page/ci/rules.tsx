import { useState } from 'preact/hooks'
import type { PanelProject, PanelRule } from '../../src/panel-state.ts'
import { usePanel } from '../panel/panel-store.ts'
import { clock } from '../slack/when.ts'
import { useDeed } from '../panel/use-deed.ts'
import { useActs } from '../store/workspace.tsx'
import { Choice, Text } from './push.tsx'

const EVENTS = ['started', 'failed', 'success', 'recovered', 'waiting']
const MATCHES = ['exact', 'wildcard', 'regex']

/** CI's notification rules. Buildline follows those for `slack`. */
export function Rules() {
  const projects = usePanel((state) => state.projects) ?? []
  const hasRules = usePanel((state) => state.watched.rules !== null)
  const [name, setName] = useState('')
  const project = projects.find((one) => one.name === name) ?? projects[0]
  if (!hasRules) return null
  return (
    <section class="panel-part" aria-labelledby="ci-rules-title">
      <h3 id="ci-rules-title">Notification rules</h3>
      <Choice label="Rules of" value={project?.name ?? ''} onPick={setName}>
        {projects.map((one) => (
          <option key={one.id} value={one.name}>
            {one.name}
          </option>
        ))}
      </Choice>
      <Unread project={project?.name ?? ''} />
      {project && <Editor key={`${project.name} ${JSON.stringify(project.rules)}`} project={project} />}
      <p class="panel-note">
        The <code>webhook</code> rule sends the deliveries; the <code>slack</code> rules say what #builds is told.
        Buildline reads them every five minutes, and when somebody types <code>/ci list</code>, once a minute at most.
      </p>
    </section>
  )
}

/** Says that the bot has not read changed rules yet, so that they have no effect. */
function Unread({ project }: { project: string }) {
  const rules = usePanel((state) => state.watched.rules)
  const isUnread = rules?.unread.includes(project) ?? false
  return (
    <p role="status" class={isUnread ? 'ci-unread' : 'hidden'}>
      {rules && isUnread && (
        <>
          Buildline has not read these yet. It does by about {minute(rules.dueAt)}, or, from {minute(rules.onListFrom)}{' '}
          on, when somebody types <code>/ci list</code>.
        </>
      )}
    </p>
  )
}

const MINUTE_MS = 60_000

/** The time, rounded up to a whole minute. */
const minute = (ms: number): string => clock(String((Math.ceil(ms / MINUTE_MS) * MINUTE_MS) / 1_000))

function Editor({ project: { name, rules: held } }: { project: PanelProject }) {
  const [rules, setRules] = useState<readonly PanelRule[]>(held)
  const { deed, isBusy } = useDeed()
  const { tell } = useActs()
  const change = (at: number, rule: PanelRule | null) =>
    setRules(rules.flatMap((one, index) => (index === at ? (rule ?? []) : one)))
  const save = (event: Event) => {
    event.preventDefault()
    const empty = rules.findIndex(({ build_statuses }) => build_statuses.length === 0)
    if (empty >= 0) tell(`Rule ${empty + 1} needs at least one event, or has to go.`)
    else void deed(`ci/projects/${encodeURIComponent(name)}/rules`, { rules })
  }
  const isChanged = JSON.stringify(rules) !== JSON.stringify(held)
  return (
    <form onSubmit={save} aria-label={`Rules of ${name}`}>
      <ul class="panel-list">
        {rules.map((rule, at) => (
          <li key={at}>
            <RuleFields rule={rule} n={at + 1} onChange={(changed) => change(at, changed)} />
          </li>
        ))}
      </ul>
      <div class="panel-row">
        <button class="button panel-small" type="button" onClick={() => setRules([...rules, newRule()])}>
          Add a rule for Slack
        </button>
        <button class="button panel-small" type="button" disabled={!isChanged} onClick={() => setRules(held)}>
          Undo
        </button>
        <button class="button primary panel-small" type="submit" disabled={isBusy || !isChanged}>
          Save the rules
        </button>
      </div>
    </form>
  )
}

const newRule = (): PanelRule => ({
  notifier: 'slack',
  target: 'all',
  branch: 'release/*',
  branch_match: 'wildcard',
  build_statuses: ['failed', 'recovered'],
  options: { key: 'sandbox-slack-key' },
})

interface RuleProps {
  rule: PanelRule
  n: number
  onChange: (rule: PanelRule | null) => void
}

function RuleFields({ rule, n, onChange }: RuleProps) {
  const toggle = (event: string) => {
    const has = rule.build_statuses.includes(event)
    const build_statuses = EVENTS.filter((one) => (one === event ? !has : rule.build_statuses.includes(one)))
    onChange({ ...rule, build_statuses })
  }
  return (
    <fieldset>
      <legend>
        {n}. {rule.notifier}
      </legend>
      <div class="panel-row">
        <Text
          label="Branch (empty: all)"
          value={rule.branch ?? ''}
          onType={(branch) => onChange({ ...rule, branch: branch === '' ? null : branch })}
        />
        <Choice label="Match" value={rule.branch_match} onPick={(branch_match) => onChange({ ...rule, branch_match })}>
          {MATCHES.map((match) => (
            <option key={match}>{match}</option>
          ))}
        </Choice>
      </div>
      <div class="panel-row ci-events" role="group" aria-label={`Events of rule ${n}`}>
        {EVENTS.map((event) => (
          <label key={event} class="panel-check">
            <input type="checkbox" checked={rule.build_statuses.includes(event)} onChange={() => toggle(event)} />
            {event}
          </label>
        ))}
        <button class="textlink small" type="button" onClick={() => onChange(null)}>
          Remove<span class="hidden"> rule {n}</span>
        </button>
      </div>
    </fieldset>
  )
}
