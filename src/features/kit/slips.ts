import {
  answerOf,
  line,
  nextStep,
  type Answer,
  type ErrorAnswer,
  type Part,
  typed,
} from '../../slack/messages/answer.ts'

// Answers to mistyped commands. Nothing was done, so they need no reference to the log.

/** No such command. `nearest`: the most similar name of a command. */
export const answerUnknown = (
  { typed: text, nearest }: { typed: string; nearest: string | null },
  prefix = '/ci',
): Answer =>
  answerOf([
    line(`:mag: *No such command*: ${typed(text)}.`),
    line(
      nextStep(
        nearest === null
          ? `Type ${typed(`${prefix} help`)} to see all commands.`
          : `Did you mean ${typed(`${prefix} ${nearest}`)}? Then type that.`,
      ),
    ),
  ])

export interface HowTyped {
  /** `/ci stop [project[@branch]]` */
  usage: string
  /** a whole line: `/ci stop acme/web@main` */
  example: string
}

/** More words than the command takes. Buildline does not guess what they mean. */
export const answerTooMuch = ({ extra, ...how }: { extra: string } & HowTyped): Answer =>
  answerOf([line(`:mag: *Not understood*: I didn't expect ${typed(extra)} there.`), ...howToType(how)])

/** The command needs a word that is missing. `missing`: `a project` */
export const answerTooLittle = ({ missing, ...how }: { missing: string } & HowTyped): Answer =>
  answerOf([line(`:mag: *Incomplete*: this command needs ${missing}.`), ...howToType(how)])

/** An empty name. `branchOf`: the project whose branch is meant; null: the project's own name is empty. */
export const answerNameless = ({ branchOf, ...how }: { branchOf: string | null } & HowTyped): Answer =>
  answerOf([
    line(
      branchOf === null
        ? ':mag: *Which project?* The name is empty.'
        : `:mag: *Which branch?* There is no name after ${typed(branchOf)}.`,
    ),
    ...howToType(how),
  ])

const howToType = ({ usage, example }: HowTyped): Part[] => [
  line(`Usage: ${typed(usage)}`),
  line(nextStep(`For example: ${typed(example)}`)),
]

/**
 * Input that does not fit into a form's metadata is refused, since it is not stored elsewhere.
 * @param excess in characters
 */
export const tooLongWords = (excess: number): string =>
  `about ${excess} characters too long for a form; change it in smaller parts, or in CI`

export const unknownBuild = (text: string, command: string): ErrorAnswer => ({
  what: NUMBER.test(text) ? `:mag: *No build ${text} is known*.` : `:mag: *No build matches* ${typed(text)}.`,
  why: KNOWN_BUILDS,
  next: `Name its project: ${typed(`/ci ${command} project@branch`)}.`,
})

const NUMBER = /^#[\da-f]+$/

export const KNOWN_BUILDS = 'Buildline only knows builds that were reported to it.'
