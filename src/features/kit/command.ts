import type { Permits, Requester, Target } from '../../projects/outcomes.ts'
import type { Choice } from './values.ts'
import { answerNotAllowed } from './not-allowed.ts'
import { answerNameless, answerTooLittle, answerTooMuch } from './slips.ts'
import type { Reply } from './context.ts'
import type { ModalOpener } from './modal.ts'
import type { OrAskCi } from '../../ci-sync/ci-lookup.ts'
import type { FollowedDeps } from '../../projects/projects.ts'
import type { FindBuildDeps } from '../../projects/find-build.ts'
import type { Answer } from '../../slack/messages/answer.ts'
import type { Block, Button } from '../../slack/messages/blocks.ts'
import { ACTION_IDS, STREAK_ACTION_ID } from '../../slack/messages/ids.ts'
import { type Word, CUT, partAt } from '../../slack/commands/parse.ts'
import { isShortId, isUuid, toUuid } from '../../domain/ids.ts'

export interface CommandRow {
  /** after `/ci`, such as `list` */
  name: string
  /** the slash command that does the same, such as `/ci-list` */
  alias: string | null
  group: string
  /** what may follow the name, such as `[project] [branch]`; empty: nothing */
  usage: string
  /** one short sentence without a full stop: `shows the projects with their last known state` */
  does: string
  /** whole lines, such as `/ci stop acme/web@main` */
  examples: readonly string[]
  who: 'everyone' | 'members' | 'operators' | 'approvers' | 'admins'
  /** further sentences for `help` with the command's name, in Slack's markup */
  notes?: readonly string[]
}

/** `/ci stop [project[@branch]]`: how a command is typed. @param prefix see `prefixOf` */
export const usageOf = ({ name, usage }: Pick<CommandRow, 'name' | 'usage'>, prefix = '/ci'): string =>
  usage === '' ? `${prefix} ${name}` : `${prefix} ${name} ${usage}`

/** The prefix of commands in the place where this was typed: Slack runs no slash commands in threads. */
export const prefixOf = ({ via }: Pick<Requester, 'via'>): string => (via === 'mention' ? '@Buildline' : '/ci')

/** What every answer needs: the stored builds, CI for unknown ones, and permissions. */
export interface AnswerDeps extends FindBuildDeps, FollowedDeps {
  permits: Permits
  orAskCi: OrAskCi
}

/** What is common to commands and clicks. */
export interface Interaction {
  by: Requester
  /** null if Slack lets this interaction open no modal */
  modalOpener: ModalOpener | null
  /** a short id that is also in the log */
  reference: string
}

/** A command as a person gave it: typed, clicked or chosen. */
export interface Question extends Interaction {
  row: CommandRow
  /** every command there is */
  commands: readonly Command[]
  /** what was typed after the command's name */
  words: readonly Word[]
  /** the same text as Slack sent it, with line breaks and quotes: for pasted lists */
  text: string
  /** the build's message in whose thread it was typed: the target if no other is named */
  thread: Target | null
}

type Handler = (question: Question) => Promise<Reply>

export interface Command extends CommandRow {
  handle: Handler
  /** Handles a choice among several things that the typed name matched. Left out: this command offers no choices. */
  choose?: (question: Question, choice: Choice) => Promise<Reply>
}

/** How people name a build in a command's usage. */
export const BUILD_USAGE = '[project[@branch] | #build | build address | uuid]'

/**
 * A command about a build or project: the one that was named or chosen, else the one in whose thread it was typed; null
 * if there is none. Refuses surplus words and empty names instead of guessing.
 */
export const commandAbout = (
  row: CommandRow,
  answer: (question: Question, target: Target | null) => Promise<Reply>,
): Command => ({
  ...row,
  async handle(question) {
    const target = parseTarget(question.words)
    if (target.kind === 'unclear') return tooMuch(row, target.extra)
    if (target.kind === 'nameless')
      return nameless(row, target.project, `/ci ${row.name} ${target.project ?? 'project'}@branch`)
    return answer(question, target.kind === 'none' ? question.thread : target)
  },
  choose: (question, choice) => answer(question, targetOf(choice)),
})

export const targetOf = (choice: Choice): Target =>
  choice.kind === 'run'
    ? { kind: 'run', ref: choice.ref }
    : { kind: 'project', project: choice.project, branch: choice.branch }

/** The typed words, with the chosen project in place of the ambiguous name. */
export const wordsOf = (choice: Choice): Word[] =>
  choice.kind === 'project' ? [choice.project, ...(choice.rest ?? [])].map((text) => ({ text })) : []

/** The usage that a mistyped command shows. */
type TypedRow = Pick<CommandRow, 'name' | 'usage' | 'examples'>

/** More words than the command takes. */
export const tooMuch = (row: TypedRow, extra: string, example = exampleOf(row)): Reply => ({
  outcome: 'too-much',
  answer: answerTooMuch({ extra, usage: usageOf(row), example }),
})

/** `missing`: the word that is missing, such as `a project`. */
export const tooLittle = (row: TypedRow, missing: string, example = exampleOf(row)): Reply => ({
  outcome: 'too-little',
  answer: answerTooLittle({ missing, usage: usageOf(row), example }),
})

/** The name of a branch of this project, or (null) of a project, is empty. */
export const nameless = (row: TypedRow, branchOf: string | null, example = exampleOf(row)): Reply => ({
  outcome: 'nameless',
  answer: answerNameless({ branchOf, usage: usageOf(row), example }),
})

const exampleOf = (row: TypedRow): string => row.examples[0] ?? usageOf(row)

/**
 * Calls `read` only if this person may read: outsiders in shared channels may not. Only this person sees the answer, so
 * buttons that they may not use are left out.
 */
export async function whenMayRead(
  { permits }: Pick<AnswerDeps, 'permits'>,
  { by, reference }: Pick<Interaction, 'by' | 'reference'>,
  read: () => Promise<Reply>,
): Promise<Reply> {
  const permit = await permits('read', { user: by.user, team: by.team })
  if (permit.kind === 'yes') return withoutForbidden(permits, by, await read())
  return { outcome: permit.kind, answer: answerNotAllowed(permit, { action: null, reference }) }
}

async function withoutForbidden(permits: Permits, by: Requester, reply: Reply): Promise<Reply> {
  const { answer } = reply
  const buttons = answer?.blocks.flatMap(buttonsIn) ?? []
  const has = (ids: readonly string[]) => buttons.some(({ action_id: id }) => ids.includes(id))
  const isForbidden = async (ids: readonly string[], right: 'operate' | 'own') =>
    has(ids) && (await permits(right, by)).kind === 'no' ? ids : []
  const forbidden = [...(await isForbidden(OPERATING, 'operate')), ...(await isForbidden([STREAK_ACTION_ID], 'own'))]
  if (!answer || forbidden.length === 0) return reply
  const left = (block: Block) => buttonsIn(block).filter(({ action_id: id }) => !forbidden.includes(id))
  const blocks = answer.blocks.flatMap((block): Block[] => {
    if (block.type === 'actions') return left(block).length > 0 ? [{ ...block, elements: left(block) }] : []
    if (block.type !== 'section' || left(block).length > 0) return [block]
    const { accessory: _, ...text } = block
    return [text]
  })
  return { ...reply, answer: { ...answer, blocks } }
}

const OPERATING = [ACTION_IDS.stop, ACTION_IDS.restart]

function buttonsIn(block: Block): readonly Button[] {
  if (block.type === 'actions') return block.elements
  return block.type === 'section' && block.accessory ? [block.accessory] : []
}

/** What an answer needs to know about the question. */
export const answerContext = ({ row, reference }: Question, target: Target | null, command = row.name) => ({
  command,
  branch: target?.kind === 'project' ? target.branch : null,
  reference,
})

/** The answer to an outcome, which the log names too. */
export const replyTo = (outcome: { kind: string; code?: string }, answer: Answer | null): Reply => ({
  outcome: outcomeName(outcome),
  answer,
})

/** `ci-trouble not-found`: an outcome as the log calls it. */
const outcomeName = (outcome: { kind: string; code?: string }): string =>
  outcome.code === undefined ? outcome.kind : `${outcome.kind} ${outcome.code}`

/** A command's target as typed. It may not exist. */
export type TypedTarget =
  | { kind: 'none' }
  | Exclude<Target, { kind: 'run' | 'message' }>
  /** the name of a branch of this project, or (null) of a project, is empty */
  | { kind: 'nameless'; project: string | null }
  /** the first surplus word, which may mean another target */
  | { kind: 'unclear'; extra: string }

/**
 * Reads `acme/web`, `acme/web@fix/login`, `acme/web fix/login`, `#512`, a build's address or a uuid. The first `@` that
 * is not the first character separates project and branch; `acme/web@@login` is the branch `@login`. An empty branch,
 * as in `acme/web@` or `acme/web ""`, does not mean any branch.
 */
export function parseTarget(words: readonly Word[]): TypedTarget {
  const [first, second, third] = words
  if (!first) return { kind: 'none' }
  if (words.includes(CUT)) return { kind: 'unclear', extra: CUT.text }
  if (first.text === '') return { kind: 'nameless', project: null }
  const target = readOne(first)
  if (!second) return target
  const both = withSecond(target, second)
  if (!both) return { kind: 'unclear', extra: second.text }
  return third ? { kind: 'unclear', extra: third.text } : both
}

function readOne(word: Word): TypedTarget {
  const url = findBuildUrl(word)
  if (url !== null) return { kind: 'build-url', url }
  const [project, branch] = partAt(word.text)
  if (branch !== null) return ofBranch(nameIn(project), branch)
  const [, before = '', number] = NUMBERED.exec(project) ?? []
  if (number !== undefined && isShortId(number)) return { kind: 'build-number', number, project: before || null }
  return isUuid(project) ? { kind: 'uuid', uuid: toUuid(project) } : { kind: 'project', project, branch: null }
}

const NUMBERED = /^([^#]*)#(\d+|[\da-f]{8})$/

// Git allows no branch named `@`, so `@` alone is an empty name.
const ofBranch = (project: string, branch: string): TypedTarget =>
  branch === '' || branch === '@' ? { kind: 'nameless', project } : { kind: 'project', project, branch }

const nameIn = (project: string): string => (isUuid(project) ? toUuid(project) : project)

/** The address of a build: one that was typed as an address, or linked text whose path ends as a build's does. */
function findBuildUrl({ text, url }: Word): string | null {
  if (WEB_ADDRESS.test(text) && URL.canParse(text)) return url ?? text
  return url !== undefined && BUILD_PATH.test(new URL(url).pathname) ? url : null
}

const WEB_ADDRESS = /^https?:\/\/\S+$/i
const BUILD_PATH = /\/builds\/[^/@]+\/?$|\/(?:actions\/runs|-\/pipelines)\/\d+(?:\/|$)/

/** A project and the word after it; null if no second word can follow. */
function withSecond(target: TypedTarget, second: Word): TypedTarget | null {
  const project = projectOf(target)
  if (project === null || findBuildUrl(second) !== null) return null
  // `acme/web@ main`
  if (target.kind === 'nameless') return ofBranch(project, second.text)
  const [, before, number] = NUMBERED.exec(second.text) ?? []
  if (number !== undefined && before === '' && isShortId(number)) return { kind: 'build-number', number, project }
  // `acme/web @main`
  return ofBranch(project, second.text.replace(/^@/, ''))
}

function projectOf(target: TypedTarget): string | null {
  if (target.kind === 'uuid') return target.uuid
  if (target.kind === 'nameless') return target.project
  return target.kind === 'project' && target.branch === null ? target.project : null
}
