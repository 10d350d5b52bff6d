// @ts-check

/** How many failed tests, and how many flaky tests, are named; further ones are only counted. */
export const NAMED_MAX = 200

/**
 * @typedef {{ name: string, message: string }} Failure
 * @typedef {{
 *   tests: number
 *   failed: number
 *   skipped: number
 *   flaky: number
 *   duration_ms: number | null
 *   failures: readonly Failure[]
 *   flaky_tests: readonly string[]
 * }} Sums
 * @typedef {import('./junit.js').TestCase} TestCase
 * @typedef {import('./junit.js').Result} Result
 */

/** The values of a slot; 0 is empty. @type {readonly (Result | null)[]} */
const RESULTS = [null, 'passed', 'skipped', 'failed', 'flaky']

/**
 * Counts the tests of one report. A test that appears again was retried: its last result counts, and if it passed after a
 * failure, it is flaky. A report may have half a million tests, so only a hash and the result of each are stored, in typed
 * arrays outside JavaScript's heap.
 */
export function createTally() {
  let hashes = new Float64Array(1024)
  let results = new Uint8Array(1024)
  let tests = 0
  /** @type {number | null} */
  let durationMs = null
  /** @type {Map<number, Failure>} */
  const failures = new Map()
  /** @type {Map<number, Failure>} */
  const flaky = new Map()

  return { add, sums }

  /** @param {TestCase} test @param {() => Failure} describe */
  function add(test, describe) {
    if (test.durationMs !== null) durationMs = (durationMs ?? 0) + test.durationMs
    const hash = hashOf(test.key)
    const slot = slotOf(hash)
    const result = resultAfter(RESULTS[results[slot] ?? 0] ?? null, test.result)
    if (results[slot] === 0) tests += 1
    hashes[slot] = hash
    results[slot] = RESULTS.indexOf(result)
    keep(failures, hash, result === 'failed', describe)
    keep(flaky, hash, result === 'flaky', describe)
    if (tests * 2 > hashes.length) grow()
  }

  /** The slot of this test, or a free one for it. @param {number} hash */
  function slotOf(hash) {
    let slot = hash % hashes.length
    while (results[slot] !== 0 && hashes[slot] !== hash) slot = (slot + 1) % hashes.length
    return slot
  }

  function grow() {
    const before = { hashes, results }
    hashes = new Float64Array(before.hashes.length * 2)
    results = new Uint8Array(before.hashes.length * 2)
    for (const [at, result] of before.results.entries()) {
      const hash = before.hashes[at] ?? 0
      if (result === 0) continue
      const slot = slotOf(hash)
      hashes[slot] = hash
      results[slot] = result
    }
  }

  /** @returns {Sums} */
  function sums() {
    const count = (/** @type {Result} */ result) =>
      results.reduce((sum, one) => sum + (one === RESULTS.indexOf(result) ? 1 : 0), 0)
    return {
      tests,
      failed: count('failed'),
      skipped: count('skipped'),
      flaky: count('flaky'),
      duration_ms: durationMs === null ? null : Math.round(durationMs),
      failures: [...failures.values()],
      flaky_tests: [...flaky.values()].map(({ name }) => name),
    }
  }
}

/** @param {Result | null} before @param {Result} now @returns {Result} */
const resultAfter = (before, now) => (now === 'passed' && (before === 'failed' || before === 'flaky') ? 'flaky' : now)

/** @param {Map<number, Failure>} named @param {number} hash @param {boolean} isToBe @param {() => Failure} describe */
function keep(named, hash, isToBe, describe) {
  if (!isToBe) named.delete(hash)
  else if (named.has(hash) || named.size < NAMED_MAX) named.set(hash, describe())
}

/** 53 bits, after cyrb53: with half a million tests, a collision happens once in many thousand reports. @param {string} text */
function hashOf(text) {
  let one = 0xdeadbeef
  let other = 0x41c6ce57
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    one = Math.imul(one ^ unit, 2654435761)
    other = Math.imul(other ^ unit, 1597334677)
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909)
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909)
  return 4294967296 * (2097151 & other) + (one >>> 0)
}
