import type { Permits } from '../../projects/outcomes.ts'
import type { EventHandler, Feature } from '../kit/feature.ts'
import { doctorOperations } from './examine.ts'
import { answerDoctor } from './messages.ts'
import type { Reply, SlackDeps } from '../kit/context.ts'
import { listAt } from '../kit/body.ts'
import { APP_EVENTS, type AppEvent } from './check-slack.ts'
import type { Check, DoctorDeps } from '../kit/check.ts'
import { CHECKS } from './checks.ts'
import type { Question } from '../kit/command.ts'

/** @param deps `checks`: those of all features */
export function doctor(deps: { doctor: DoctorDeps; checks: () => readonly Check[]; permits: Permits }): Feature {
  const operations = doctorOperations({ ...deps.doctor, checks: deps.checks, permits: deps.permits })
  return {
    commands: [
      {
        name: 'doctor',
        alias: null,
        group: 'Help',
        usage: '',
        does: 'finds what is misconfigured and says how to fix it',
        examples: ['/ci doctor'],
        who: 'admins',
        notes: ['`npm run buildline -- doctor` checks the same beside a bot that is running.'],
        handle: (question) => examine(operations, question),
      },
    ],
    checks: CHECKS,
    events: Object.fromEntries(
      APP_EVENTS.map((event): [AppEvent, EventHandler] => [
        event,
        (slack, body) => handleAppEvent(operations, event, slack, body),
      ]),
    ),
  }
}

type DoctorOperations = ReturnType<typeof doctorOperations>

/** Answers with what is misconfigured and how to fix it. Further words are ignored. */
async function examine(operations: DoctorOperations, { by, reference }: Question): Promise<Reply> {
  const outcome = await operations.examine(by)
  return { outcome: outcome.kind, answer: answerDoctor(outcome, { reference }) }
}

/** Logs Slack's event about the app, and stores it for the doctor. Never throws. */
async function handleAppEvent(
  operations: DoctorOperations,
  event: AppEvent,
  { log }: SlackDeps,
  body: unknown,
): Promise<void> {
  // Not our tokens, but those of people.
  if (event === 'tokens_revoked' && listAt(body, 'event', 'tokens', 'bot').length === 0) return
  log.error({ part: 'slack', event }, SAID[event])
  try {
    await operations.slackSaid(event)
  } catch (error) {
    log.warn({ err: error, event }, 'an event from Slack about the app could not be stored')
  }
}

const AGAIN = 'until it is installed again and SLACK_BOT_TOKEN is its new token'

const SAID: Readonly<Record<AppEvent, string>> = {
  app_uninstalled: `The app was uninstalled from Slack: nothing is sent and nothing arrives ${AGAIN}. Messages wait.`,
  tokens_revoked: `Slack has revoked the bot's token: nothing is sent ${AGAIN}. Messages wait.`,
  app_rate_limited:
    'Slack drops events, because there were more than 30,000 in an hour, or too few were answered: some mentions and changes of channels do not arrive. Subscribe the app only to the events in manifest.yml.',
}
