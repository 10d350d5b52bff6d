// @ts-check
import { resolve } from 'node:path'
import { findFiles } from './glob.js'
import { readReport, Unreadable } from './junit.js'
import { messageOf, nameOf } from './names.js'
import { createTally, NAMED_MAX } from './tally.js'
import { createCleaner } from './text.js'

/** This many troubles are listed; further ones are only counted. */
const TROUBLES_MAX = 5

/**
 * @typedef {import('./tally.js').Sums} Sums
 * @typedef {import('./text.js').Mask} Mask
 */

/**
 * The sums of all readable reports, and a line for each trouble. It never fails.
 *
 * @param {readonly string[]} globs
 * @param {Mask} mask
 */
export async function collect(globs, mask) {
  /** @type {Sums} */
  let sums = { tests: 0, failed: 0, skipped: 0, flaky: 0, duration_ms: null, failures: [], flaky_tests: [] }
  /** @type {string[]} */
  const troubles = []
  for (const file of await filesOf(globs, troubles)) {
    try {
      sums = together(sums, await sumsOf(file, mask))
    } catch (error) {
      troubles.push(`${file} is left out: ${whyUnreadable(error)}`)
    }
  }
  if (sums.tests === 0 && troubles.length === 0) troubles.push(`no tests found in ${globs.join(' ')}`)
  const more = troubles.length - TROUBLES_MAX
  return { sums, troubles: [...troubles.slice(0, TROUBLES_MAX), ...(more > 0 ? [`${more} more like these`] : [])] }
}

/** Each file once. @param {readonly string[]} globs @param {string[]} troubles */
async function filesOf(globs, troubles) {
  /** @type {Map<string, string>} */
  const files = new Map()
  for (const glob of globs) {
    const found = await findFiles(glob)
    if (found.length === 0) troubles.push(`no file matches ${glob}`)
    for (const file of found) files.set(resolve(file), file)
  }
  return files.values()
}

/** @param {string} file @param {Mask} mask */
async function sumsOf(file, mask) {
  const tally = createTally()
  const clean = createCleaner(mask)
  await readReport(file, (test) => {
    tally.add(test, () => describe(test, clean))
  })
  return tally.sums()
}

/** @param {import('./junit.js').TestCase} test @param {import('./text.js').Cleaner} clean */
function describe(test, clean) {
  // Masked first: a name may keep only the last part of a class, which could be half a secret.
  const [name = '', classname = '', file = ''] = [test.name, test.classname, test.file].map(clean.whole)
  const masked = { ...test, name, classname, file, suites: test.suites.map(clean.whole) }
  return {
    name: clean.cut(clean.whole(nameOf(masked)) || 'a test without a name'),
    message: messageOf(masked, clean),
  }
}

/** @param {Sums} one @param {Sums} other @returns {Sums} */
const together = (one, other) => ({
  tests: one.tests + other.tests,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
  flaky: one.flaky + other.flaky,
  duration_ms:
    one.duration_ms === null && other.duration_ms === null ? null : (one.duration_ms ?? 0) + (other.duration_ms ?? 0),
  failures: [...one.failures, ...other.failures].slice(0, NAMED_MAX),
  flaky_tests: [...one.flaky_tests, ...other.flaky_tests].slice(0, NAMED_MAX),
})

/** @param {unknown} error */
function whyUnreadable(error) {
  if (error instanceof Unreadable) return error.message
  return `it cannot be read${error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''}`
}
