import { describe, expect, it } from 'vitest'
import { buildOf, NOBODY, openStage, rowsOf, sendAll, settled, until } from '../support/app.ts'
import { openWorld } from '../support/world.ts'

const metricsOf = async ({ url }: { url: string }): Promise<string> => (await fetch(`${url}/metrics`)).text()

/** The value of a counter or gauge; null: none yet. */
async function valueOf(app: { url: string }, sample: string): Promise<number | null> {
  const line = (await metricsOf(app)).split('\n').find((one) => one.startsWith(`${sample} `))
  return line === undefined ? null : Number(line.slice(sample.length + 1))
}

describe('a running app counts', () => {
  it('its calls of CI by interface and outcome', async () => {
    const { app } = await openWorld()
    await until('the projects were read', () => valueOf(app, 'buildline_ci_calls_total{interface="v2",outcome="ok"}'))
    // The legacy interface is read second.
    await until('both', () => valueOf(app, 'buildline_ci_calls_total{interface="legacy",outcome="ok"}'))
    expect(await valueOf(app, 'buildline_ci_call_seconds_count{interface="v2"}')).toBeGreaterThan(0)
    expect(await valueOf(app, 'buildline_ci_calls_total{interface="v2",outcome="unauthorized"}')).toBeNull()
  })

  it('refused and repeated calls of CI', async () => {
    const { app } = await openWorld({
      settings: { CI_AUTHORIZATION: 'Bearer of-yesterday', CI_LEGACY_BASE_URL: NOBODY },
    })
    await until('v2 refused', () => valueOf(app, 'buildline_ci_calls_total{interface="v2",outcome="unauthorized"}'))
    await until('asked again', () => valueOf(app, 'buildline_ci_retries_total{why="unreachable"}'))
  })

  it('each read and write of the database, with its duration', async () => {
    const { app } = await openStage()
    const before = (await valueOf(app, 'buildline_store_seconds_count{operation="write"}')) ?? 0
    await sendAll(app.url, buildOf(512))
    expect(await valueOf(app, 'buildline_store_seconds_count{operation="write"}')).toBeGreaterThan(before)
    expect(await valueOf(app, 'buildline_store_seconds_count{operation="read"}')).toBeGreaterThan(0)
    expect(await valueOf(app, 'buildline_delivery_seconds_count{what="delivery"}')).toBe(1)
  })

  it('the results of its jobs, and when each was last done', async () => {
    const { app } = await openStage()
    await until('the first look', () => valueOf(app, 'buildline_job_done_timestamp_seconds{job="prune"}'))
    expect(await valueOf(app, 'buildline_jobs_total{job="prune",end="done"}')).toBe(1)
  })

  it('the absence of Slack, and what waits for it', async () => {
    const { app, slack } = await openStage({ settings: { DEFAULT_CHANNEL: 'C0BUILDS01' } })
    expect(await valueOf(app, 'buildline_slack_reachable')).toBe(1)
    slack.acts.revokeToken()
    await sendAll(app.url, buildOf(512))
    await until('it is noticed', async () => (await valueOf(app, 'buildline_slack_reachable')) === 0)
    expect(await valueOf(app, 'buildline_backlog{queue="post"}')).toBe(1)
  })
})

describe('retention in a running app', () => {
  it('removes at its first run what RETENTION_DAYS says, and nothing else', async () => {
    const { app, folder } = await openStage({ settings: { RETENTION_DAYS: '1' } })
    await sendAll(app.url, buildOf(512, { status: 'success' }))
    await settled(app.url)
    await until('the first look', () => valueOf(app, 'buildline_jobs_total{job="prune",end="done"}'))
    expect(rowsOf(folder, 'select 1 from delivery')).toHaveLength(1)
  })
})
