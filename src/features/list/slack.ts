import type { ListQuery } from '../../projects/outcomes.ts'
import { answerList } from './messages.ts'
import { pageOf, parsePage } from '../kit/values.ts'
import type { Reply } from '../kit/context.ts'
import { listProjects, type ListDeps } from './list.ts'
import { replyTo, whenMayRead, type AnswerDeps, type Interaction } from '../kit/command.ts'
import type { Word } from '../../slack/commands/parse.ts'
import { PAGE_ACTION_IDS } from '../../slack/messages/ids.ts'
import type { ButtonHandler, Feature } from '../kit/feature.ts'

type Deps = AnswerDeps & ListDeps

export function list(deps: Deps): Feature {
  // Previous and Next carry the whole search, so they also work on old lists.
  const turning: ButtonHandler = {
    what: 'list',
    replaces: true,
    async answer(click) {
      const page = parsePage(click.value)
      return page && listPage(deps, click, page)
    },
  }
  return {
    commands: [
      {
        name: 'list',
        alias: '/ci-list',
        group: 'Look',
        usage: '[text] [basic|pro] [page]',
        does: 'lists the projects with their last known state',
        examples: ['/ci list', '/ci list acme', '/ci list pro 2'],
        who: 'everyone',
        notes: [
          'The text is searched for in the project names. `basic` or `pro` shows one type, a number at the end turns the page.',
        ],
        handle: (question) => listPage(deps, question, readList(question.words)),
      },
    ],
    buttons: { [PAGE_ACTION_IDS.previous]: turning, [PAGE_ACTION_IDS.next]: turning },
  }
}

/** One page of projects; a click on Next asks for the next one in the same way. */
const listPage = (deps: Deps, interaction: Interaction, query: ListQuery): Promise<Reply> =>
  whenMayRead(deps, interaction, async () => {
    const outcome = await listProjects(deps, query)
    return replyTo(outcome, answerList(outcome, interaction))
  })

/** `acme pro 2`: the type and the page come last, in this order; the words before them are the search text. */
function readList(words: readonly Word[]): ListQuery {
  const left = words.map(({ text }) => text).filter((text) => text !== '')
  const page = pageOf(left.at(-1) ?? '')
  if (page !== null) left.pop()
  const type = typeOf(left.at(-1))
  if (type !== null) left.pop()
  return { text: left.join(' ') || null, type, page: page ?? 1 }
}

function typeOf(word: string | undefined): ListQuery['type'] {
  const type = word?.toLowerCase()
  return type === 'basic' || type === 'pro' ? type : null
}
