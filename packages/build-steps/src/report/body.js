// @ts-check

/** The largest report that the bot accepts. */
const BODY_BYTES_MAX = 64 * 1024

/**
 * The report as JSON. It names as many tests as fit; the totals count the others too.
 *
 * @param {Readonly<Record<string, string | number>>} build
 * @param {import('./tally.js').Sums & { shard: string | null, log: readonly string[] }} report
 */
export function bodyOf(build, { shard, tests, failed, skipped, flaky, duration_ms, failures, flaky_tests, log }) {
  const sums = { shard, tests, failed, skipped, flaky, duration_ms }
  const bare = { build, report: { ...sums, failures: [], flaky_tests: [], log } }
  let left = BODY_BYTES_MAX - bytesOf(bare)
  /** @template T @param {readonly T[]} items @returns {T[]} */
  const fitting = (items) => {
    const end = items.findIndex((item) => (left -= bytesOf(item) + 1) < 0)
    return items.slice(0, end < 0 ? items.length : end)
  }
  return JSON.stringify({
    build,
    report: { ...sums, failures: fitting(failures), flaky_tests: fitting(flaky_tests), log },
  })
}

/** @param {unknown} value */
const bytesOf = (value) => Buffer.byteLength(JSON.stringify(value))
