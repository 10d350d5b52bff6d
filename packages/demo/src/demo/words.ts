import type { Service, Story } from '../service/service.ts'
import type { KeptBot } from './keeper.ts'

/** Printed before the first act, for people who will open the page. */
export const introduction = (
  { slackUrl, ci, logFile, isPlayed }: { slackUrl: string; ci: Service; logFile: string; isPlayed: boolean },
  { port, pid }: Pick<KeptBot, 'port' | 'pid'>,
): string => `
Buildline is running between ${ci.story.what} and a sandbox Slack, all on this machine.

  Open          ${slackUrl}/        the workspace, a panel for CI, one to break things, and a tour
  Its messages  ${slackUrl}/gallery/     everything that Buildline can say, and when
  ${ci.story.name.padEnd(13)} ${ci.url}/sandbox/state      (how to drive it: ${ci.story.manual})
  The bot       http://127.0.0.1:${port}/readyz and /metrics; its log is ${logFile}
  A push        curl -X POST ${ci.url}/sandbox${ci.story.push.path} -H 'content-type: application/json' \\
                  -d '${JSON.stringify(ci.story.push.body)}'
  A crash       kill -9 ${pid}      kills the bot: it is started again, and ${ci.story.missed}

Ctrl-C ends it. ${isPlayed ? 'Now playing, for about a minute:' : 'The scenario is not played: the page has a tour.'}
`

/** The same with `--once`. */
export const introductionOnce = ({ pid }: Pick<KeptBot, 'pid'>): string =>
  `Playing for about a minute. What everybody saw is printed at the end. The bot is pid ${pid}: after kill -9 ${pid} it is started again.\n`

/** What to try when the acts are over, for the terminal and for #builds. */
export const yourTurnIn = ({ yourTurn }: Story): string => `Your turn, as anyone you like ("Acting as" on the page):
• in #builds press Restart on the red card of acme/api, the one on main, and watch it turn green
• in #ops type \`/ci rules\`, or \`/ci rules test acme/web release/2.0 failed\`, before any such build runs
• in #web type \`/ci subscribe\` alone, for a form, or \`/ci subscribe acme/api failed,recovered main\`
${yourTurn.map((line) => `• ${line}\n`).join('')}• as Grace type \`/ci me grace\`, then open Home: her red branches are there
• \`/ci help\` lists everything else; in a build's thread, write @Buildline status`
