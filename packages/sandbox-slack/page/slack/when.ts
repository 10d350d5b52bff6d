// The time of a message, in the reader's time zone.

export const dateOf = (ts: string): Date => new Date(Number(ts) * 1000)

export const dayOf = (ts: string): string => dateOf(ts).toDateString()

export const clock = (ts: string): string =>
  dateOf(ts).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** `Today`, or the day in words. */
export const dayWords = (ts: string, today: Date): string =>
  dayOf(ts) === today.toDateString()
    ? 'Today'
    : dateOf(ts).toLocaleDateString('en', { weekday: 'long', month: 'long', day: 'numeric' })
