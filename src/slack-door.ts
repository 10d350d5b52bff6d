import type { IncomingMessage, ServerResponse } from 'node:http'
import { App, HTTPReceiver, LogLevel, type Logger } from '@slack/bolt'
import type { Config } from './config.ts'
import type { Log } from './lib/log.ts'
import { registerListeners } from './listeners/index.ts'

export interface SlackDoor {
  /** Answers what Slack sends over HTTP; null in Socket Mode, where Slack sends nothing over HTTP. */
  handle: ((request: IncomingMessage, response: ServerResponse) => void) | null
  start(): Promise<void>
  stop(): Promise<void>
}

/** The door for Slack, in Bolt: signed HTTP requests, or Socket Mode when there is an app token. */
export function createSlackDoor({ botToken, signingSecret, appToken, apiUrl }: Config['slack'], log: Log): SlackDoor {
  const common = {
    token: botToken,
    // Whether the token is good is told by /readyz; a door that is shut for it would help nobody.
    tokenVerificationEnabled: false,
    logger: boltLogger(log),
    ...(apiUrl ? { clientOptions: { slackApiUrl: apiUrl } } : {}),
  }
  if (appToken) {
    const app = new App({ ...common, appToken, socketMode: true })
    registerListeners(app, log)
    return { handle: null, start: async () => void (await app.start()), stop: async () => void (await app.stop()) }
  }
  const receiver = new HTTPReceiver({
    signingSecret: signingSecret ?? '',
    endpoints: ['/slack/events'],
    logger: common.logger,
  })
  const app = new App({ ...common, receiver })
  registerListeners(app, log)
  return { handle: receiver.requestListener, start: async () => {}, stop: async () => {} }
}

// Bolt's debug lines hold whole requests; only its warnings and errors are of use to an operator.
function boltLogger(log: Log): Logger {
  const nothing = () => {}
  const tell =
    (level: 'warn' | 'error') =>
    (...parts: unknown[]) =>
      log[level]({ part: 'slack' }, parts.map(String).join(' '))
  return {
    debug: nothing,
    info: nothing,
    warn: tell('warn'),
    error: tell('error'),
    setLevel: nothing,
    getLevel: () => LogLevel.WARN,
    setName: nothing,
  }
}
