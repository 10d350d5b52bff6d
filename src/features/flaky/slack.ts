import { amountOf } from '../../slack/commands/parse.ts'
import type { Reply } from '../kit/context.ts'
import { nameless, replyTo, tooMuch, whenMayRead, wordsOf, type AnswerDeps, type Question } from '../kit/command.ts'
import type { Feature } from '../kit/feature.ts'
import { FLAKY_DAYS_MAX, flakyBranches, type FlakyDeps } from './flaky.ts'
import { answerDays, answerFlaky } from './messages.ts'

type Deps = AnswerDeps & FlakyDeps

export const flaky = (deps: Deps): Feature => ({
  commands: [
    {
      name: 'flaky',
      alias: null,
      group: 'Look',
      usage: '[project] [30d]',
      does: 'shows branches and tests that both failed and passed on the same commit',
      examples: ['/ci flaky', '/ci flaky 30d', '/ci flaky acme/web 90d'],
      who: 'everyone',
      notes: [`Without a period, it is the last 14 days; \`1d\` to \`${FLAKY_DAYS_MAX}d\` can be asked for.`],
      handle: (question) => answerTyped(deps, question),
      choose: (question, choice) => answerTyped(deps, { ...question, words: wordsOf(choice) }),
    },
  ],
})

const DAYS = 14

/** `/ci flaky acme/web 30d` */
async function answerTyped(deps: Deps, question: Question): Promise<Reply> {
  const { row, words, by, reference } = question
  const texts = words.map(({ text }) => text)
  const typedDays = amountOf(texts.at(-1) ?? '', 'd')
  const period = typedDays === null ? null : texts.pop()!
  const [project = null, extra] = texts
  if (extra !== undefined) return tooMuch(row, extra)
  if (project === '') return nameless(row, null)
  const days = typedDays ?? DAYS
  if (days < 1 || days > FLAKY_DAYS_MAX) return { outcome: 'unclear', answer: answerDays(period ?? '') }
  return whenMayRead(deps, question, async () => {
    const outcome = await deps.orAskCi(() => flakyBranches(deps, { project, days, channel: by.channel }))
    const rest = period === null ? [] : [period]
    return replyTo(outcome, answerFlaky(outcome, { command: row.name, rest, reference }))
  })
}
