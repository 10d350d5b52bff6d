import type { KeptBot } from './keeper.ts'

/** What is told before the first act to whoever will look at the page. */
export const introduction = (
  { slackUrl, ciUrl, logFile }: { slackUrl: string; ciUrl: string; logFile: string },
  { port, pid }: Pick<KeptBot, 'port' | 'pid'>,
): string => `
Buildline is running between a sandbox CI service and a sandbox Slack, all on this machine.

  Open          ${slackUrl}/        the workspace: look at #builds, open the threads, press what you like
  The CI        ${ciUrl}/sandbox/state      (how to drive it: docs/sandbox-ci.md)
  The bot       http://127.0.0.1:${port}/readyz and /metrics; its log is ${logFile}
  A push        curl -X POST ${ciUrl}/sandbox/projects/acme%2Fweb/push -H 'content-type: application/json' \\
                  -d '{"branch":"main","message":"My change","committer":"Ada","outcome":"error"}'
  Its plug      kill -9 ${pid}      pulls it: the bot is started again, and CI repeats what was refused

Ctrl-C ends it. Now playing, for about a minute:
`

/** The same for whoever only waits for the end. */
export const introductionOnce = ({ pid }: Pick<KeptBot, 'pid'>): string =>
  `Playing for about 35 seconds; then what everybody saw. The bot is pid ${pid}: kill -9 ${pid}, and it is started again.\n`

export const YOUR_TURN = `
Your turn: press Restart on the red card of acme/api in #builds, the one on main, and watch it turn green.
Then type /ci help in the field below, or mention @Buildline status in a build's thread. Ctrl-C ends it.`
