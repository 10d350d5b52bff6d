/** What came of one thing that a person did, as the bot acknowledged it: over HTTP or over a socket. */
export type Acknowledgement =
  | {
      kind: 'answered'
      what: string
      /** 200 over a socket */
      status: number
      body: string
      elapsedMs: number
      /** the error with which Slack refuses what the answer asks for, if it does */
      refusal?: string
      /** what the bot finds wrong with a submitted view, by block id */
      errors?: Record<string, string>
    }
  /** nothing within the ack timeout: the person saw "did not respond" */
  | { kind: 'late'; what: string; elapsedMs: number }
  | { kind: 'unreachable'; what: string; elapsedMs: number; cause: unknown }
  /** the bot was told nothing: the person said no in the dialog, or the element tells only with the form */
  | { kind: 'unsent'; what: string; because: 'not_confirmed' | 'no_dispatch_action' | 'no_notify_on_close' }
