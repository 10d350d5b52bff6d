import { answerOf, answerTrouble, line, nextStep, type Answer } from '../slack/messages/answer.ts'
import { typed } from '../slack/messages/typed.ts'

/** An error that nobody foresaw; the log line carries the same reference. */
export const answerFault = (reference: string): Answer =>
  answerTrouble(
    {
      what: ':boom: *That did not work*: an unexpected error in Buildline.',
      why: 'Whether anything was done is not known; the log has the details.',
      next: 'Try once more: the same thing is never done twice. If it fails again, give a workspace admin the reference.',
    },
    reference,
  )

/** A click on something that an older version offered. */
export const answerOld = (): Answer =>
  answerOf([
    line(':hourglass: *That button is of an older version* of Buildline, which no longer knows it; nothing was done.'),
    line(nextStep(`Type ${typed('/ci help')} to see what works now.`)),
  ])

/** A choice in a search that does not say any more what it is about. */
export const answerOldSearch = (): Answer =>
  answerOf([
    line(':hourglass: *This search was begun in another version* of Buildline, which remembers it no more.'),
    line(nextStep('Close it, and open *Find a build* once more.')),
  ])

/** The first answer when the real one takes its time; what is slow is not known. `what`: the command's name, such as `stop`. */
export const answerSlow = (what: string): Answer =>
  answerOf([line(`:hourglass_flowing_sand: This takes longer: the answer to ${typed(what)} follows here.`)])

/** A form that does not say any more what it is about. */
export const answerOldForm = (): Answer =>
  answerOf([
    line(
      ':hourglass: *This form was opened in another version* of Buildline, which remembers it no more; nothing was done.',
    ),
    line(nextStep('Close it, and open it once more.')),
  ])

/** A form that Slack did not open: it opens one within three seconds of a command or a click, and not for a mention. */
export const answerNotOpened = (why: 'mention' | 'late', reference: string): Answer =>
  answerTrouble(
    {
      what: ':warning: *The form could not be opened*; nothing was done.',
      why:
        why === 'late'
          ? 'Slack takes it within three seconds, and this came later.'
          : 'Slack opens forms for commands and buttons, not for mentions.',
      next: why === 'late' ? 'Ask once more.' : `Type it as a command, such as ${typed('/ci project edit acme/web')}.`,
    },
    reference,
  )
