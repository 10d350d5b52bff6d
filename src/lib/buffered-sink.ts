/** Calls that are buffered while there is no listener; further ones are dropped. */
export const KEPT_MAX = 100_000

/**
 * Buffers calls until there is a listener, then passes them on in order. Afterwards it passes on all calls of a turn of
 * the event loop together, after that turn: calling the listener one by one, between other work, costs several times as
 * much.
 */
export function createBufferedSink<Listener>() {
  let listener: Listener | null = null
  let kept: ((to: Listener) => void)[] = []

  function tellAll(): void {
    const said = kept
    kept = []
    for (const say of said) say(listener!)
  }

  return {
    tell(say: (to: Listener) => void): void {
      if (listener === null && kept.length >= KEPT_MAX) return
      if (kept.push(say) === 1 && listener !== null) setImmediate(tellAll)
    },
    /** Sets the listener, and passes on what was buffered. */
    use(to: Listener): void {
      listener = to
      tellAll()
    },
  }
}
