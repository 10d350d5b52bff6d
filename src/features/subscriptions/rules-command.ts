import { answerDryRun } from './dry-run-messages.ts'
import { answerRules } from './rules-messages.ts'
import { answerNameless, answerTooLittle, answerTooMuch, type HowTyped } from '../slips.ts'
import { pageOf } from '../values.ts'
import type { Reply } from '../context.ts'
import { howTyped, outcomeName, whenMayRead, wordsOf, type Command, type Question } from '../command.ts'
import { CUT, type Word } from '../../slack/commands/parse.ts'

export const rules: Command = {
  name: 'rules',
  alias: null,
  group: 'Follow',
  usage: '[page] | test project branch [event]',
  does: 'shows what this channel is told, and by which rules; with test, who would be told of a build',
  examples: ['/ci rules', '/ci rules test acme/web main', '/ci rules test acme/web main failed'],
  who: 'everyone',
  handle: answerTyped,
  choose: (question, choice) => answerTyped({ ...question, words: [{ text: TEST_WORD }, ...wordsOf(choice)] }),
}

/** `/ci rules`, `/ci rules 2`, `/ci rules test acme/web main failed`. */
async function answerTyped(question: Question): Promise<Reply> {
  const [first, ...others] = question.words
  if (first?.text.toLowerCase() === TEST_WORD) return tryRules(question, others)
  const page = first ? pageOf(first.text) : 1
  const extra = page === null ? first : others[0]
  if (extra || page === null)
    return { outcome: 'too-much', answer: answerTooMuch({ extra: extra?.text ?? '', ...howTyped(question.row) }) }
  return rulesPage(question, page)
}

const TEST_WORD = 'test'

/** What this channel follows. A click on Next asks for the next page in the same way. */
export const rulesPage = (question: Pick<Question, 'operations' | 'by' | 'reference'>, page: number): Promise<Reply> =>
  whenMayRead(question, async () => {
    const outcome = await question.operations.subscriptions.rules(question.by.channel)
    return { outcome: outcomeName(outcome), answer: answerRules(outcome, page) }
  })

const HOW: HowTyped = { usage: '/ci rules test project branch [event]', example: '/ci rules test acme/web main failed' }

async function tryRules(question: Question, words: readonly Word[]): Promise<Reply> {
  const reading = readTry(words)
  if ('outcome' in reading) return reading
  const { operations, by, reference } = question
  return whenMayRead(question, async () => {
    const outcome = await operations.subscriptions.dryRun(reading, by)
    const rest = [reading.branch, ...(reading.event === null ? [] : [reading.event])]
    return {
      outcome: outcomeName(outcome),
      answer: answerDryRun(outcome, { command: 'rules', branch: null, rest, reference }),
    }
  })
}

interface Try {
  project: string
  branch: string
  event: string | null
}

function readTry(words: readonly Word[]): Try | Reply {
  if (words.includes(CUT)) return { outcome: 'too-much', answer: answerTooMuch({ extra: CUT.text, ...HOW }) }
  const [project, branch, event, extra] = partedAt(words.map(({ text }) => text))
  if (project === undefined) return tooLittle('a project and a branch')
  if (project === '') return { outcome: 'nameless', answer: answerNameless({ branchOf: null, ...HOW }) }
  if (branch === undefined) return tooLittle('a branch after the project')
  if (branch === '') return { outcome: 'nameless', answer: answerNameless({ branchOf: project, ...HOW }) }
  if (extra !== undefined) return { outcome: 'too-much', answer: answerTooMuch({ extra, ...HOW }) }
  return { project, branch, event: event || null }
}

const tooLittle = (missing: string): Reply => ({ outcome: 'too-little', answer: answerTooLittle({ missing, ...HOW }) })

/** `acme/web@main failed` is `acme/web main failed`. */
function partedAt([first, ...others]: readonly string[]): (string | undefined)[] {
  const at = first?.indexOf('@', 1) ?? -1
  const second = others[0]?.replace(/^@/, '')
  if (first === undefined || at < 0) return [first, second, ...others.slice(1)]
  return [first.slice(0, at), first.slice(at + 1), ...others]
}
