/** So much is kept; what is said beyond it before anybody listens is lost. */
export const KEPT_MAX = 100_000

/**
 * For a listener that may not be there yet: what is said is kept, and told, in order, to the one that comes. The
 * listener is told when a turn of the event loop is over, all that was said in it at once: one by one, between other
 * work, costs several times as much.
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
    /** From now on `to` is told. */
    use(to: Listener): void {
      listener = to
      tellAll()
    },
  }
}
