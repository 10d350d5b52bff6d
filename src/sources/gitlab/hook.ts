import { ownHook, type Hook } from '../hook.ts'

/** The state of a project's webhook. Source: GitLab REST API, "Project webhooks". */
export const gitlabHook = (hooks: readonly unknown[]): Hook =>
  ownHook(hooks, '/webhooks/gitlab', {
    addressOf: ({ url }) => url,
    stateOf({ alert_status: alert, pipeline_events: hasPipelines }) {
      if (alert === 'disabled') return { state: 'off' }
      if (hasPipelines === false) return { state: 'no-events' }
      // GitLab retries by itself.
      if (alert === 'temporarily_disabled') return { state: 'failing', said: 'switched off for a while' }
      return { state: 'fine' }
    },
  })
