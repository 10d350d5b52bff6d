import type { KeptBot } from './keeper.ts'

/** What is told before the first act to whoever will look at the page. */
export const introduction = (
  { slackUrl, ciUrl, logFile, isPlayed }: { slackUrl: string; ciUrl: string; logFile: string; isPlayed: boolean },
  { port, pid }: Pick<KeptBot, 'port' | 'pid'>,
): string => `
Buildline is running between a sandbox CI service and a sandbox Slack, all on this machine.

  Open          ${slackUrl}/        the workspace, the CI beside it, what breaks both, and a tour
  Its words     ${slackUrl}/gallery/     everything that Buildline can say, and when
  The CI        ${ciUrl}/sandbox/state      (how to drive it: docs/sandbox-ci.md)
  The bot       http://127.0.0.1:${port}/readyz and /metrics; its log is ${logFile}
  A push        curl -X POST ${ciUrl}/sandbox/projects/acme%2Fweb/push -H 'content-type: application/json' \\
                  -d '{"branch":"main","message":"My change","committer":"Ada","outcome":"error"}'
  Its plug      kill -9 ${pid}      pulls it: the bot is started again, and CI repeats what was refused

Ctrl-C ends it. ${isPlayed ? 'Now playing, for about a minute:' : 'Nothing plays by itself: the page has a tour.'}
`

/** The same for whoever only waits for the end. */
export const introductionOnce = ({ pid }: Pick<KeptBot, 'pid'>): string =>
  `Playing for about 40 seconds; then what everybody saw. The bot is pid ${pid}: kill -9 ${pid}, and it is started again.\n`

/** What there is to try when the acts are over, for the terminal and for #builds. */
export const YOUR_TURN = `Your turn, as whoever you like ("Acting as" on the page):
• in #builds press Restart on the red card of acme/api, the one on main, and watch it turn green
• in #ops type \`/ci rules\`, or \`/ci rules test acme/web release/2.0 failed\`, before any such build runs
• in #web type \`/ci subscribe\` alone, for a form, or \`/ci subscribe acme/api failed,recovered main\`
• as Grace, an admin, type \`/ci project acme/web\` and press Edit: what would change is shown before it is sent
• as Grace type \`/ci me grace\`, then open Home: the builds that broke are hers
• \`/ci help\` has the rest; in a build's thread write @Buildline status`
