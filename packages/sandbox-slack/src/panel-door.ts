import type { IncomingMessage, ServerResponse } from 'node:http'

/** What else the page shows and can do, where there is more than Slack: `/sandbox/ci/…` and `/sandbox/panel/…`. */
export interface PanelDoor {
  answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>
  /** Tells what is, and then what changes, as whole server-sent events, until `stopped` aborts. */
  follow(tell: (event: string) => void, stopped: AbortSignal): void
}

/** Holds the endpoint, which is built after the server that it is in; a page may be there before it. */
export interface PanelFrame {
  readonly door: PanelDoor | null
  open(door: PanelDoor): void
  /** The same as the endpoint's, from when there is one. */
  follow: PanelDoor['follow']
}

export function createPanelFrame(): PanelFrame {
  let door: PanelDoor | null = null
  const waiting = new Set<(door: PanelDoor) => void>()
  return {
    get door() {
      return door
    },
    open: (opened) => {
      door = opened
      for (const follow of waiting) follow(opened)
      waiting.clear()
    },
    follow: (tell, stopped) => {
      if (door) return door.follow(tell, stopped)
      const later = (opened: PanelDoor) => opened.follow(tell, stopped)
      waiting.add(later)
      stopped.addEventListener('abort', () => waiting.delete(later), { once: true })
    },
  }
}

export const isPanelPath = (path: string): boolean => /^\/sandbox\/(?:ci|panel)\//.test(path)
