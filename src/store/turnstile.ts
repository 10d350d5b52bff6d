/** Lets so many be inside at once; the others wait, in order, for as long as it takes. */
export function createTurnstile(insideMax: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let inside = 0

  return async (work) => {
    if (inside < insideMax) inside++
    // Whoever leaves hands over the place.
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else inside--
    }
  }
}
