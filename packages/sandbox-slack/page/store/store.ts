import { useLayoutEffect, useReducer, useRef } from 'preact/hooks'

export interface Store<State, Action> {
  get(): State
  dispatch(action: Action): void
  /** Calls `listener` after each change. The returned function removes the listener. */
  subscribe(listener: () => void): () => void
}

export function createStore<State, Action>(
  reduce: (state: State, action: Action) => State,
  initial: State,
): Store<State, Action> {
  const listeners = new Set<() => void>()
  let state = initial
  return {
    get: () => state,
    dispatch: (action) => {
      const next = reduce(state, action)
      if (Object.is(next, state)) return
      state = next
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** A part of the state. The component is redrawn only if that part changes. */
export function useStore<State, Action, Picked>(store: Store<State, Action>, pick: (state: State) => Picked): Picked {
  const [, redraw] = useReducer<number, null>((count) => count + 1, 0)
  const now = pick(store.get())
  const last = useRef({ pick, now })
  last.current = { pick, now }
  useLayoutEffect(() => {
    const look = () => {
      if (!Object.is(last.current.pick(store.get()), last.current.now)) redraw(null)
    }
    // The state may have changed since the component was drawn.
    look()
    return store.subscribe(look)
  }, [store])
  return now
}
