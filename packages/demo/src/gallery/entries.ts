import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { invariant } from '../../../../src/lib/assert.ts'
import type { Entry, Group } from '../../../sandbox-slack/page/gallery/entry.ts'
import type { View } from '../../../sandbox-slack/page/store/wire.ts'
import { valuesOf } from '../../../sandbox-slack/src/view-state.ts'
import { isJson, listOf, readingOf, type Json } from './reading.ts'
import { expand, wholeMessage } from './short.ts'

/** Everything that the golden files hold, in groups that a person can find their way in. Throws on a file without a sentence. */
export function readGroups(golden: string): Group[] {
  const messages = filesIn(golden).map((file) => messageOf(golden, file))
  const of = (title: string, kind: string): Group => ({
    title,
    entries: messages.filter(({ name }) => name === kind || name.startsWith(`${kind}-`)),
  })
  return [
    { title: 'Cards', entries: of('Cards', 'card').entries.toSorted((a, b) => isFirst(b) - isFirst(a)) },
    of('Replies in the thread', 'reply'),
    of('What people asked of CI', 'ask'),
    of('Who is on a red branch', 'note'),
    of('Notices of the account', 'notice'),
    of('Digests', 'digest'),
    ...answerGroups(golden),
    { title: 'Forms', entries: filesIn(golden, 'modals').map((file) => viewOf(golden, 'modals', file)) },
    { title: 'Home', entries: filesIn(golden, 'home').map((file) => viewOf(golden, 'home', file)) },
    { title: 'What is said unasked', entries: filesIn(golden, 'said').map((file) => saidOf(golden, file)) },
  ]
}

/** The page opens on a red card that says what failed. */
const isFirst = ({ name }: Entry): number => Number(name === 'card-tests')

const filesIn = (golden: string, folder = ''): string[] =>
  readdirSync(join(golden, folder))
    .filter((file) => file.endsWith('.json'))
    .toSorted()

const read = (...path: string[]): unknown => JSON.parse(readFileSync(join(...path), 'utf8'))
const readJson = (...path: string[]): Json => objectOf(read(...path))

function objectOf(value: unknown): Json {
  invariant(isJson(value), 'a golden file holds objects')
  return value
}

const nameOf = (file: string): string => file.replace(/\.json$/, '')

/** A file without a sentence has no place here. */
function sentenceIn(golden: Json, file: string): string {
  const when = golden['when']
  invariant(typeof when === 'string' && when.trim() !== '', `${file} says in \`when\` when it appears`)
  return when
}

function messageOf(golden: string, file: string): Entry {
  const short = readJson(golden, file)
  const { plain } = wholeMessage(short)
  return { ...messageEntry(`messages/${nameOf(file)}`, nameOf(file), sentenceIn(short, file), short), plain }
}

function messageEntry(id: string, name: string, when: string, short: Json): Entry & { shows: 'message' } {
  const { text, blocks, attachments } = wholeMessage(short)
  return {
    id,
    name,
    when,
    shows: 'message',
    json: { text, blocks: blocksOf(blocks).map(withChart), attachments: [...attachments] },
    reading: text.split('\n'),
    plain: null,
  }
}

/** The chart of each digest in the gallery: a file beside the page. */
export const CHART_FILE = 'chart.png'

const withChart = (block: View['blocks'][number]): View['blocks'][number] => {
  const { slack_file: file, ...rest } = block
  return file === undefined ? block : { ...rest, image_url: CHART_FILE }
}

/** `restart-ci-refused.json` holds every way in which CI may refuse. */
function answerGroups(golden: string): Group[] {
  const files = filesIn(golden, 'answers').map((file) => ({ file, ones: answersIn(golden, file) }))
  const byName = new Map(files.flatMap(({ file, ones }) => ones.map((one) => [`${file}: ${String(one['when'])}`, one])))
  const entries = files.flatMap(({ file, ones }) =>
    ones.map((one, at) => {
      const name = nameOf(file)
      const when = answerSentence(name, sentenceIn(one, file))
      return messageEntry(
        `answers/${name}/${at + 1}`,
        name,
        when,
        wholeOf(one, (same) => byName.get(same)),
      )
    }),
  )
  const byCommand = Map.groupBy(entries, ({ name }) => commandOf(name))
  return [...byCommand].map(([command, ones]) => ({ title: ANSWERS[command] ?? `/ci ${command}`, entries: ones }))
}

function answersIn(golden: string, file: string): Json[] {
  const ones = read(golden, 'answers', file)
  invariant(Array.isArray(ones), `${file} holds answers`)
  return ones.map(objectOf)
}

/** What reads the same as another one only names it. */
function wholeOf(golden: Json, find: (same: string) => Json | undefined): Json {
  const { same } = golden
  if (typeof same !== 'string') return golden
  const whole = find(same)
  invariant(whole, `there is a golden file of ${same}`)
  return { ...whole, ...golden }
}

const ANSWERS: Readonly<Record<string, string>> = {
  any: 'What every command can answer',
  hostile: 'Answers with what strangers could make of them',
}

const commandOf = (name: string): string => name.split('-')[0] ?? name

/** ``requested: CI takes the request`` becomes ``After `/ci restart`: CI takes the request.`` */
function answerSentence(name: string, when: string): string {
  const command = commandOf(name)
  const asked = command === 'any' || command === 'hostile' ? 'Somebody asks' : `After /ci ${command}`
  const [, clause = when] = /^[\w-]+: (.+)$/s.exec(when) ?? []
  return `${asked}: ${clause}.`
}

function viewOf(golden: string, folder: 'modals' | 'home', file: string): Entry {
  const one = readJson(golden, folder, file)
  const { view, errors = {} } = wholeOf(one, (same) => readJson(golden, folder, same))
  const json = objectOf(expand(view))
  const wrong = Object.fromEntries(Object.entries(objectOf(errors)).map(([block, why]) => [block, String(why)]))
  return {
    id: `${folder}/${nameOf(file)}`,
    name: nameOf(file),
    when: sentenceIn(one, file),
    shows: folder === 'home' ? 'home' : 'modal',
    json: { ...json, type: String(json['type']), blocks: blocksOf(json['blocks']) },
    values: valuesOf(listOf(json['blocks']), {}),
    errors: wrong,
    reading: readingOf(json, wrong),
  }
}

/** That they are blocks is looked at where the golden files are made. */
const blocksOf = (value: unknown): View['blocks'] =>
  listOf(value).map((block) => ({ ...block, type: String(block['type']) }))

function saidOf(golden: string, file: string): Entry {
  const one = readJson(golden, 'said', file)
  return messageEntry(`said/${nameOf(file)}`, nameOf(file), sentenceIn(one, file), one)
}
