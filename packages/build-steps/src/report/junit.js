// @ts-check
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import sax from 'sax'

/*! Contains sax: https://blueoakcouncil.org/license/1.0.0 */

const FILE_BYTES_MAX = 256 * 1024 * 1024
/** sax rejects a longer attribute, comment or tag. */
sax.MAX_BUFFER_LENGTH = 256 * 1024
const DEPTH_MAX = 100
const ATTRIBUTES_MAX = 100
/** Characters of a failure's text that are read. */
const TEXT_CHARS_MAX = 8 * 1024
/** Characters of a name that are read. The whole name is searched for secrets; far fewer characters are sent. */
const NAME_CHARS_MAX = 1024

/**
 * @typedef {'passed' | 'skipped' | 'failed' | 'flaky'} Result
 * @typedef {{ name: string, classname: string, file: string, suites: readonly string[] }} Named
 * @typedef {{ message: string, text: string }} Words
 * @typedef {Named & Words & { key: string, result: Result, durationMs: number | null }} TestCase
 * @typedef {import('sax').Tag} Tag
 */

/** A fault in a report; the message is for people. */
export class Unreadable extends Error {}

/**
 * Reads one JUnit report as a stream, and calls `onTest` at the end of each test case. If it throws an Unreadable, drop the
 * test cases it gave before.
 *
 * @param {string} file
 * @param {(test: TestCase) => void} onTest
 */
export async function readReport(file, onTest) {
  const { size } = await stat(file)
  if (size > FILE_BYTES_MAX) throw new Unreadable(`it is larger than ${FILE_BYTES_MAX / 1024 / 1024} MiB`)
  const parser = createParser(onTest)
  for await (const chunk of createReadStream(file, 'utf8')) parser.write(String(chunk))
  parser.close()
}

/** @param {(test: TestCase) => void} onTest */
function createParser(onTest) {
  const parser = sax.parser(true, { strictEntities: true })
  const { open, text, close } = createReader(onTest)
  let depth = 0
  let attributes = 0
  const refuse = () => {
    throw new Unreadable('it declares a document type or entities, which are not read')
  }
  /** @type {import('sax').Handlers} */
  const handlers = {
    ondoctype: refuse,
    onsgmldeclaration: refuse,
    onerror({ message }) {
      // Some test runners write terminal colours as characters that XML does not allow. They are kept as text.
      if (message.startsWith('Invalid character entity') && parser.entity.startsWith('#'))
        return void (parser.error = null)
      throw new Unreadable(`it is not complete XML (line ${parser.line + 1}: ${message.split('\n')[0]})`)
    },
    onopentagstart() {
      attributes = 0
      depth += 1
      if (depth > DEPTH_MAX) throw new Unreadable(`its elements are nested more than ${DEPTH_MAX} deep`)
    },
    onattribute() {
      attributes += 1
      if (attributes > ATTRIBUTES_MAX) throw new Unreadable(`an element has more than ${ATTRIBUTES_MAX} attributes`)
    },
    onopentag: open,
    ontext: text,
    oncdata: text,
    onclosetag() {
      depth -= 1
      close()
    },
  }
  return Object.assign(parser, handlers)
}

/** The result that a child element of a test case stands for. @type {Readonly<Record<string, Result>>} */
const RESULTS = {
  failure: 'failed',
  error: 'failed',
  skipped: 'skipped',
  rerunFailure: 'flaky',
  rerunError: 'flaky',
  flakyFailure: 'flaky',
  flakyError: 'flaky',
}

/** If a test case has several results, the one that comes last here counts. @type {readonly Result[]} */
const RANKS = ['passed', 'flaky', 'skipped', 'failed']

/** @param {(test: TestCase) => void} onTest */
function createReader(onTest) {
  /** @type {string[]} */
  const elements = []
  /** @type {{ name: string, path: string }[]} */
  const suites = []
  /** @type {TestCase | null} */
  let test = null
  let isInWords = false

  return { open, text, close }

  /** @param {Tag} tag */
  function open({ name, attributes }) {
    const element = name.slice(name.indexOf(':') + 1)
    const isOfTest = elements.at(-1) === 'testcase'
    elements.push(element)
    if (element === 'testsuite') suites.push(suiteOf(attributes))
    else if (element === 'testcase') test = testOf(attributes)
    else if (test && isOfTest) setResult(test, element, attributes)
  }

  // The path tells apart tests with the same name in different suites or browsers.
  /** @param {Record<string, string>} attributes */
  function suiteOf({ name = '', hostname = '' }) {
    const short = name.slice(0, NAME_CHARS_MAX)
    return { name: short, path: [suites.at(-1)?.path, short, hostname.slice(0, NAME_CHARS_MAX)].join('\n') }
  }

  /** @param {Record<string, string>} attributes @returns {TestCase} */
  function testOf({ name = '', classname = '', file = '', time, status }) {
    return {
      name: name.slice(0, NAME_CHARS_MAX),
      classname: classname.slice(0, NAME_CHARS_MAX),
      file: file.slice(0, NAME_CHARS_MAX),
      suites: suites.map((suite) => suite.name),
      key: [suites.at(-1)?.path, classname, name].join('\n'),
      result: NOT_RUN.test(status ?? '') ? 'skipped' : 'passed',
      durationMs: msOf(time),
      message: '',
      text: '',
    }
  }

  /** @param {TestCase} of @param {string} element @param {Record<string, string>} attributes */
  function setResult(of, element, { message = '' }) {
    const result = Object.hasOwn(RESULTS, element) ? RESULTS[element] : undefined
    if (!result || RANKS.indexOf(result) < RANKS.indexOf(of.result)) return
    isInWords = result === 'failed' && of.result !== 'failed'
    of.result = result
    if (isInWords) of.message = message.slice(0, TEXT_CHARS_MAX)
  }

  /** @param {string} words */
  function text(words) {
    if (test && isInWords && test.text.length < TEXT_CHARS_MAX) {
      test.text += words.slice(0, TEXT_CHARS_MAX - test.text.length)
    }
  }

  function close() {
    const element = elements.pop()
    if (elements.at(-1) === 'testcase') isInWords = false
    if (element === 'testsuite') suites.pop()
    if (element !== 'testcase' || !test) return
    onTest(test)
    test = null
  }
}

const NOT_RUN = /^(?:notrun|skipped|disabled|pending)$/i

/** Reads a time in seconds. Some test runners write `1,234.5`. @param {string | undefined} time */
function msOf(time = '') {
  const seconds = Number.parseFloat(time.includes('.') ? time.replaceAll(',', '') : time.replace(',', '.'))
  return seconds >= 0 && seconds < Number.MAX_SAFE_INTEGER ? seconds * 1000 : null
}
