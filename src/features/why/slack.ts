import type { Target } from '../../catalog/outcomes.ts'
import { answerWhy } from './messages.ts'
import type { Reply } from '../context.ts'
import { askedWith, outcomeName, readingTarget, whenMayRead, type About, type Question } from '../command.ts'

export const whyAbout: About = {
  overall: (question) => explain(question, null),
  about: (question, target) => explain(question, target),
}

export const why = readingTarget(whyAbout)

const explain = (question: Question, target: Target | null): Promise<Reply> =>
  whenMayRead(question, async () => {
    const outcome = await question.operations.why(target, question.by)
    return { outcome: outcomeName(outcome), answer: answerWhy(outcome, askedWith(question, 'why', target)) }
  })
