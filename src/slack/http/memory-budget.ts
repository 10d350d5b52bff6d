/** Room for what is held of many at once. */
export interface Room {
  /**
   * A place for one more. Where all together would hold more than there is room for, whoever holds most is given up: a
   * few that are large must not keep out the many that are small.
   */
  enter(giveUp: () => void): Place
}

export interface Place {
  /** It holds so much from now on. */
  holds(bytes: number): void
  /** Idempotent. */
  leave(): void
}

export function createRoom(bytesMax: number): Room {
  const places = new Map<object, { bytes: number; giveUp: () => void }>()
  let heldBytes = 0
  const isOverfull = () => heldBytes > bytesMax

  function leave(key: object): void {
    heldBytes -= places.get(key)?.bytes ?? 0
    places.delete(key)
  }

  function giveUpLargest(): void {
    const [key, largest] = [...places].reduce((most, one) => (one[1].bytes > most[1].bytes ? one : most))
    leave(key)
    largest.giveUp()
  }

  return {
    enter(giveUp) {
      const key = {}
      places.set(key, { bytes: 0, giveUp })
      return {
        holds(bytes) {
          const place = places.get(key)
          if (!place) return
          heldBytes += bytes - place.bytes
          place.bytes = bytes
          while (isOverfull()) giveUpLargest()
        },
        leave: () => leave(key),
      }
    },
  }
}
