import { answerOf, line, nextStep, type Answer, type Part } from '../slack/messages/answer.ts'
import { typed } from '../slack/messages/typed.ts'

// Slips of the fingers: nothing was done, nothing is logged, so there is no reference either.

/** No such command. `nearest`: the name that was probably meant. */
export const answerUnknown = ({ typed: text, nearest }: { typed: string; nearest: string | null }): Answer =>
  answerOf([
    line(`:mag: *No command* is called ${typed(text)}; nothing was done.`),
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
  answerOf([line(`:mag: *Not understood*: ${typed(extra)} is a word too many; nothing was done.`), ...howToType(how)])

/** The command needs a word that is not there. `missing`: `a project` */
export const answerTooLittle = ({ missing, ...how }: { missing: string } & HowTyped): Answer =>
  answerOf([line(`:mag: *Not enough*: this needs ${missing}; nothing was done.`), ...howToType(how)])

/** A name was begun and left empty. `branchOf`: the project whose branch it would be; null: the project's own name. */
export const answerNameless = ({ branchOf, ...how }: { branchOf: string | null } & HowTyped): Answer =>
  answerOf([
    line(
      branchOf === null
        ? ':mag: *Which project?* An empty name is none; nothing was done.'
        : `:mag: *Which branch?* None is named after ${typed(branchOf)}; nothing was done.`,
    ),
    ...howToType(how),
  ])

const howToType = ({ usage, example }: HowTyped): Part[] => [
  line(`Usage: ${typed(usage)}`),
  line(nextStep(`Type it as in ${typed(example)}.`)),
]
