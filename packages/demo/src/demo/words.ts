import type { Service, Story } from '../service/service.ts'
import type { KeptBot } from './keeper.ts'

/** What is told before the first act to whoever will look at the page. */
export const introduction = (
  { slackUrl, ci, logFile, isPlayed }: { slackUrl: string; ci: Service; logFile: string; isPlayed: boolean },
  { port, pid }: Pick<KeptBot, 'port' | 'pid'>,
): string => `
Buildline is running between ${ci.story.what} and a sandbox Slack, all on this machine.

  Open          ${slackUrl}/        the workspace, the CI beside it, what breaks both, and a tour
  Its words     ${slackUrl}/gallery/     everything that Buildline can say, and when
  ${ci.story.name.padEnd(13)} ${ci.url}/sandbox/state      (how to drive it: ${ci.story.manual})
  The bot       http://127.0.0.1:${port}/readyz and /metrics; its log is ${logFile}
  A push        curl -X POST ${ci.url}/sandbox${ci.story.push.path} -H 'content-type: application/json' \\
                  -d '${JSON.stringify(ci.story.push.body)}'
  Its plug      kill -9 ${pid}      pulls it: the bot is started again, and ${ci.story.missed}

Ctrl-C ends it. ${isPlayed ? 'Now playing, for about a minute:' : 'Nothing plays by itself: the page has a tour.'}
`

/** The same for whoever only waits for the end. */
export const introductionOnce = ({ pid }: Pick<KeptBot, 'pid'>): string =>
  `Playing for about a minute; then what everybody saw. The bot is pid ${pid}: kill -9 ${pid}, and it is started again.\n`

/** What there is to try when the acts are over, for the terminal and for #builds. */
export const yourTurnIn = ({ yourTurn }: Story): string => `Your turn, as whoever you like ("Acting as" on the page):
• in #builds press Restart on the red card of acme/api, the one on main, and watch it turn green
• in #ops type \`/ci rules\`, or \`/ci rules test acme/web release/2.0 failed\`, before any such build runs
• in #web type \`/ci subscribe\` alone, for a form, or \`/ci subscribe acme/api failed,recovered main\`
${yourTurn.map((line) => `• ${line}\n`).join('')}• as Grace type \`/ci me grace\`, then open Home: the builds that broke are hers
• \`/ci help\` has the rest; in a build's thread write @Buildline status`
