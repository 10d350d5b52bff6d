/** How the bot acknowledged an action of a person, over HTTP or over a socket. */
export type Acknowledgement =
  | {
      kind: 'answered'
      what: string
      /** 200 over a socket */
      status: number
      body: string
      elapsedMs: number
      /** the error with which Slack refuses the content of the answer, if it does */
      refusal?: string
      /** the bot's errors about a submitted view, by block id */
      errors?: Record<string, string>
    }
  /** no answer within the ack timeout: the person saw "did not respond" */
  | { kind: 'late'; what: string; elapsedMs: number }
  | { kind: 'unreachable'; what: string; elapsedMs: number; cause: unknown }
  /** nothing was sent: the person said no in the dialog, or the element or view sends no request of its own */
  | { kind: 'unsent'; what: string; because: 'not_confirmed' | 'no_dispatch_action' | 'no_notify_on_close' }
