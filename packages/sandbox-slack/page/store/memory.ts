// Data that the browser keeps over a reload. If the browser refuses to store it, it is lost.

/** The value stored under this name, if `isOne` accepts it; otherwise `fallback`. */
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
    // The browser's storage is full or switched off.
  }
}

export const isText = (value: unknown): value is string => typeof value === 'string'
