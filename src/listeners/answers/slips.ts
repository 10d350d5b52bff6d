import { answerOf, line, nextStep, type Answer } from './answer.ts'
import { typed } from './typed.ts'

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

/** More words than the command reads; nothing is done on a guess. `usage`: `/ci stop [project[@branch]]` */
export const answerTooMuch = ({ extra, usage, example }: { extra: string; usage: string; example: string }): Answer =>
  answerOf([
    line(`:mag: *Not understood*: ${typed(extra)} is a word too many; nothing was done.`),
    line(`Usage: ${typed(usage)}`),
    line(nextStep(`Type it as in ${typed(example)}.`)),
  ])

/** The command needs a word that is not there. `missing`: `a project` */
export const answerTooLittle = ({
  missing,
  usage,
  example,
}: {
  missing: string
  usage: string
  example: string
}): Answer =>
  answerOf([
    line(`:mag: *Not enough*: this needs ${missing}; nothing was done.`),
    line(`Usage: ${typed(usage)}`),
    line(nextStep(`Type it as in ${typed(example)}.`)),
  ])
