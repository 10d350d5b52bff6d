import { answerOf, line, nextStep, type Answer, type Part, typed } from '../slack/messages/answer.ts'

// Slips of the fingers: nothing was done, nothing is logged, so there is no reference either.

/** No such command. `nearest`: the name that was probably meant. */
export const answerUnknown = ({ typed: text, nearest }: { typed: string; nearest: string | null }): Answer =>
  answerOf([
    line(`:mag: *No such command*: ${typed(text)}.`),
    line(
      nextStep(
        nearest === null
          ? `Type ${typed('/ci help')} to see all commands.`
          : `Did you mean ${typed(`/ci ${nearest}`)}? Then type that.`,
      ),
    ),
  ])

/** How a command is typed. */
export interface HowTyped {
  /** `/ci stop [project[@branch]]` */
  usage: string
  /** a whole line: `/ci stop acme/web@main` */
  example: string
}

/** More words than the command reads; nothing is done on a guess. */
export const answerTooMuch = ({ extra, ...how }: { extra: string } & HowTyped): Answer =>
  answerOf([line(`:mag: *Not understood*: I didn't expect ${typed(extra)} there.`), ...howToType(how)])

/** The command needs a word that is not there. `missing`: `a project` */
export const answerTooLittle = ({ missing, ...how }: { missing: string } & HowTyped): Answer =>
  answerOf([line(`:mag: *Not enough*: this command needs ${missing}.`), ...howToType(how)])

/** A name was begun and left empty. `branchOf`: the project whose branch it would be; null: the project's own name. */
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

/** What does not fit into a form is refused: it is kept nowhere else. @param excess by how many characters */
export const tooLongWords = (excess: number): string =>
  `about ${excess} characters too long for a form; change it in smaller parts, or in CI`
