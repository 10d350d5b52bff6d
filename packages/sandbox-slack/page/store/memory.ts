// What the browser remembers of this page over a reload. It may refuse to remember; then the page only forgets.

/** What was remembered by this name, if it reads as `isOne` says; otherwise `fallback`. */
export function recall<T>(name: string, isOne: (value: unknown) => value is T, fallback: T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name) ?? 'null')
    return isOne(value) ? value : fallback
  } catch {
    return fallback
  }
}

export function remember(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value))
  } catch {
    // A browser without room, or told to keep nothing.
  }
}

export const isText = (value: unknown): value is string => typeof value === 'string'
