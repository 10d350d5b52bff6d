import { createContext } from 'preact'
import type { ComponentChildren } from 'preact'
import { useContext, useEffect, useMemo } from 'preact/hooks'
import { recallTheme } from '../look/theme.ts'
import { isSaid, isTooLate, readTyped, troubleOf } from './deeds.ts'
import type { Deed, Outcome } from './deeds.ts'
import { follow } from './live.ts'
import { isText, recall, remember } from './memory.ts'
import { perform } from './perform.ts'
import { emptyState, reduce } from './state.ts'
import type { Action, ReadMarks, State } from './state.ts'
import { createStore, useStore } from './store.ts'
import type { Store } from './store.ts'
import { mentionsOf } from './mentions.ts'

/** The actions of people and panels. */
export interface Acts {
  /** Performs an action and shows its error. `isDone` is false if the person has to do it again. */
  perform(deed: Deed): Promise<{ outcome: Outcome; isDone: boolean }>
  /** Sends typed text. Returns whether it was sent. */
  send(text: string, at: { channel: string; threadTs?: string }): Promise<boolean>
  /** Shows a channel, a thread in it, or `home`. */
  go(place: string, thread?: string): void
  /** Shows an error; null removes it. */
  tell(trouble: string | null): void
  dispatch(action: Action): void
}

interface Shared {
  store: Store<State, Action>
  acts: Acts
}

const WorkspaceContext = createContext<Shared | null>(null)

/** Provides the workspace to the components inside, and follows its changes. */
export function WorkspaceProvider({ children }: { children: ComponentChildren }) {
  const shared = useMemo(createShared, [])
  useEffect(() => {
    const { dispatch } = shared.store
    const onHash = () => dispatch({ kind: 'went', hash: location.hash })
    const onSight = () => document.visibilityState === 'visible' && dispatch({ kind: 'read' })
    addEventListener('hashchange', onHash)
    document.addEventListener('visibilitychange', onSight)
    const unsubscribe = shared.store.subscribe(() => keep(shared.store.get()))
    const leave = follow(dispatch)
    return () => {
      removeEventListener('hashchange', onHash)
      document.removeEventListener('visibilitychange', onSight)
      unsubscribe()
      leave()
    }
  }, [shared])
  return <WorkspaceContext.Provider value={shared}>{children}</WorkspaceContext.Provider>
}

/** A part of the workspace's state. The component is redrawn only if that part changes. */
export const useSlack = <Picked,>(pick: (state: State) => Picked): Picked => useStore(useShared().store, pick)

export const useActs = (): Acts => useShared().acts

/** Returns a function that gets the current state, for event handlers. */
export const useNow = (): (() => State) => useShared().store.get

function useShared(): Shared {
  const shared = useContext(WorkspaceContext)
  if (!shared) throw new Error('drawn outside of the workspace')
  return shared
}

function createShared(): Shared {
  const store = createStore<State, Action>(reduce, emptyState(recallAll()))
  const tell = (trouble: string | null) => store.dispatch({ kind: 'told', trouble })
  const act = async (deed: Deed) => {
    store.dispatch({ kind: 'acted' })
    const { status, outcome } = await perform(deed)
    const trouble = isTooLate(deed, status) ? null : troubleOf(outcome, store.get().bot.name)
    tell(trouble)
    return { outcome, isDone: trouble === null || isSaid(deed, status) }
  }
  const acts: Acts = {
    perform: act,
    send: async (text, at) => {
      const state = store.get()
      const escaped = new Set(state.app.commands.filter(({ isEscaped }) => isEscaped).map(({ command }) => command))
      const known = { mentions: mentionsOf(state), escaped }
      const typed = readTyped(text, { ...at, user: state.person }, state.bot.name, known)
      if (typed && 'deed' in typed) return (await act(typed.deed)).isDone
      tell(typed?.trouble ?? null)
      return typed === null
    },
    go: (place, thread) => {
      location.hash = thread === undefined ? place : `${place}/${thread}`
    },
    tell,
    dispatch: store.dispatch,
  }
  return { store, acts }
}

const isDock = (value: unknown): value is string | null => value === null || typeof value === 'string'

const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const isMarks = (value: unknown): value is ReadMarks =>
  isRecord(value) && Object.values(value).every((marks) => isRecord(marks) && Object.values(marks).every(isText))

const recallAll = () => ({
  person: recall('person', isText, ''),
  readMarks: recall('read', isMarks, {}),
  dismissed: new Set(recall('dismissed', isTexts, [])),
  theme: recallTheme(),
  dock: recall('dock', isDock, null),
})

/** How many dismissed messages are remembered. The page gets no more ephemeral messages of a channel than this. */
const DISMISSED_MAX = 1_000

function keep({ isLoaded, person, readMarks, dismissed, theme, dock }: State): void {
  if (!isLoaded) return
  remember('person', person)
  remember('read', readMarks)
  remember('dismissed', [...dismissed].slice(-DISMISSED_MAX))
  remember('theme', theme)
  remember('dock', dock)
}
