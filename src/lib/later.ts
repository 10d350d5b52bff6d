/** So much is kept; what is said beyond it before anybody listens is lost. */
export const KEPT_MAX = 100_000

/** For a listener that is not there yet: what is said is kept, and told, in order, to the one that comes. */
export function createLater<Listener>() {
  let listener: Listener | null = null
  let kept: ((to: Listener) => void)[] = []
  return {
    tell(say: (to: Listener) => void): void {
      if (listener) say(listener)
      else if (kept.length < KEPT_MAX) kept.push(say)
    },
    /** From now on `to` is told at once. */
    use(to: Listener): void {
      listener = to
      for (const say of kept) say(to)
      kept = []
    },
  }
}
