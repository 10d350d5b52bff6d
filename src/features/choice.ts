import type { Target } from '../catalog/outcomes.ts'
import { parseChoice, type Choice } from './values.ts'
import { badgeAbout } from './badge/slack.ts'
import type { About, Question } from './command.ts'
import { listPage } from './list/slack.ts'
import type { Word } from '../slack/commands/parse.ts'
import { projectAbout, readVerb } from './projects/command.ts'
import { restartAbout } from './builds/restart-command.ts'
import { rules, TEST_WORD } from './subscriptions/rules-command.ts'
import { questionAbout } from './run.ts'
import { statusAbout } from './builds/status-command.ts'
import { stopAbout } from './builds/stop-command.ts'
import { subscribe } from './subscriptions/subscribe-command.ts'
import { unsubscribe } from './subscriptions/unsubscribe-command.ts'
import { whyAbout } from './why/slack.ts'
import type { Reply } from './context.ts'
import type { Click } from './click.ts'

/** A name meant several things, and one of them was chosen: the command again, about that one. */
export async function repeatWithChoice({ door, value, by, opener, reference }: Click): Promise<Reply | null> {
  const choice = parseChoice(value)
  if (!choice) return null
  const question = questionAbout(door, choice.command, { by, thread: null, opener, reference })
  return ABOUT[choice.command](question, choice)
}

const about =
  (command: About) =>
  (question: Question, choice: Choice): Promise<Reply> =>
    command.about(question, targetOf(choice))

const ABOUT: Record<Choice['command'], (question: Question, choice: Choice) => Promise<Reply>> = {
  stop: about(stopAbout),
  restart: about(restartAbout),
  status: about(statusAbout),
  badge: about(badgeAbout),
  why: about(whyAbout),
  list: (question, choice) =>
    listPage(question, { text: choice.kind === 'project' ? choice.project : null, type: null, page: 1 }),
  subscribe: (question, choice) => subscribe({ ...question, words: wordsOf(choice) }),
  unsubscribe: (question, choice) => unsubscribe({ ...question, words: wordsOf(choice) }),
  project: (question, choice) =>
    projectAbout(question, readVerb(restOf(choice)), choice.kind === 'project' ? choice.project : ''),
  rules: (question, choice) => rules({ ...question, words: [{ text: TEST_WORD }, ...wordsOf(choice)] }),
}

const restOf = (choice: Choice): string | undefined => (choice.kind === 'project' ? choice.rest?.[0] : undefined)

/** As they were typed, but for the project. */
const wordsOf = (choice: Choice): Word[] =>
  choice.kind === 'project' ? [choice.project, ...(choice.rest ?? [])].map((text) => ({ text })) : []

const targetOf = (choice: Choice): Target =>
  choice.kind === 'run'
    ? { kind: 'run', ref: choice.ref }
    : { kind: 'project', project: choice.project, branch: choice.branch }
