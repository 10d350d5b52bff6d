// @ts-check

/**
 * @typedef {import('./junit.js').Named} Named
 * @typedef {import('./junit.js').TestCase} TestCase
 */

const BETWEEN = ' › '

/**
 * A test's name for people: `LoginTest › redirects`. A class that is only the file's path is left out, or cut to the file's
 * name if nothing else says where the test is. Playwright's failure text begins with the browser.
 *
 * @param {TestCase} test
 */
export function nameOf(test) {
  const browser = /^\s*(\[[^\]\n]{1,40}\]) › /.exec(test.text)?.[1]
  return browser ? `${nameIn(test)} ${browser}` : nameIn(test)
}

/** @param {Named} test */
function nameIn(test) {
  const classname = test.classname.trim()
  const name = shortened(test.name.trim(), classname)
  const inSuites = name.replaceAll(' > ', BETWEEN)
  if (classname === '') return [...suitesOf(test), name].filter(Boolean).join(BETWEEN)
  if (name === '') return lastOf(classname)
  if (isPath(classname) && inSuites.includes(BETWEEN)) return inSuites
  return isSaidBy(test, name, classname) ? name : `${lastOf(classname)}${BETWEEN}${name}`
}

/** Removes the class before the name, and a method's `()` after it. @param {string} name @param {string} classname */
const shortened = (name, classname) =>
  (classname !== '' && name.startsWith(`${classname}.`) ? name.slice(classname.length + 1) : name).replace(/\(\)$/, '')

/** In Jest, Mocha and RSpec, the name is a whole sentence that contains its suites. @param {Named} test @param {string} name @param {string} classname */
function isSaidBy({ file }, name, classname) {
  const isFile = file !== '' && dotted(file) === classname
  return name.startsWith(classname) || name.endsWith(classname) || (isFile && /\s/.test(name))
}

/** `./spec/login_spec.rb` as `spec.login_spec`. @param {string} file */
const dotted = (file) =>
  file
    .replace(/^(?:\.\/)+/, '')
    .replace(/\.\w+$/, '')
    .replace(/[\\/]/g, '.')

/** @param {string} text */
const isPath = (text) => /^\S*[\\/]\S*$/.test(text) || SOURCE_FILE.test(text)

const SOURCE_FILE = /\.(?:[cm]?[jt]sx?|vue|svelte|py|rb|php|go|java|kt|cs|swift|dart|feature|xml|dll)$/i

/** The last part of a path, package or namespace: `com.acme.LoginTest$Inner`. @param {string} classname */
function lastOf(classname) {
  if (/\s/.test(classname)) return classname
  if (SOURCE_FILE.test(classname)) return classname.split(/[\\/]/).at(-1) ?? classname
  const last = classname.split(classname.includes('/') ? '/' : /[.\\]/).findLast(Boolean) ?? classname
  return last.replace(/\$(?=.)/g, BETWEEN)
}

/** The names of suites, without files. A suite that repeats the outer suite's name replaces it. @param {Named} test */
function suitesOf({ suites }) {
  /** @type {string[]} */
  const named = []
  for (const suite of suites.map((one) => one.trim())) {
    if (suite === '' || suite === 'Root Suite' || isPath(suite)) continue
    if (suite.startsWith(named.at(-1) ?? '\n')) named.pop()
    named.push(suite)
  }
  return named
}

/**
 * The first line of a failure that is not only the test's name or a runner's heading.
 *
 * @param {TestCase} test
 * @param {import('./text.js').Cleaner} clean
 */
export function messageOf(test, clean) {
  const lines = [test.message, test.text].flatMap(clean.lines)
  return clean.cut(lines.find((line) => !isTitle(line, test.name)) ?? lines[0] ?? '')
}

/** @param {string} line @param {string} name */
function isTitle(line, name) {
  const [bare] = /^[^]*[^\s─]/.exec(line) ?? ['']
  const last = name.split(/ [>›] /).at(-1) ?? name
  const isPlaced = /:\d+:\d+ /.test(bare) && bare.endsWith(` ${last}`)
  return /^(?:Failed$|(?:===|---) [A-Z]+)/.test(bare) || isPlaced || (name !== '' && bare.includes(`::${name}`))
}
