/** Calls that are buffered while there is no listener; further ones are dropped. */
export const BUFFERED_MAX = 100_000

/**
 * Buffers calls until there is a listener, then passes them on in order. Afterwards it passes on all calls of a turn of
 * the event loop together, after that turn: calling the listener one by one, between other work, costs several times as
 * much.
 */
export function createBufferedSink<Listener>() {
  let listener: Listener | null = null
  let buffered: ((to: Listener) => void)[] = []

  function flush(): void {
    const calls = buffered
    buffered = []
    for (const call of calls) call(listener!)
  }

  return {
    push(call: (to: Listener) => void): void {
      if (listener === null && buffered.length >= BUFFERED_MAX) return
      if (buffered.push(call) === 1 && listener !== null) setImmediate(flush)
    },
    /** Sets the listener, and passes on what was buffered. */
    use(to: Listener): void {
      listener = to
      flush()
    },
  }
}
