import type { IncomingMessage, ServerResponse } from 'node:http'

/** The endpoint of the page's extra panels, which show more than Slack: `/sandbox/ci/…` and `/sandbox/panel/…`. */
export interface PanelDoor {
  answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>
  /** Calls `tell` with the current state and then each change, as server-sent events, until `stopped` aborts. */
  follow(tell: (event: string) => void, stopped: AbortSignal): void
}

/** Holds the endpoint. It is built after the server that serves it, so a page may connect before it exists. */
export interface PanelFrame {
  readonly door: PanelDoor | null
  open(door: PanelDoor): void
  /** Calls the endpoint's `follow`, as soon as there is an endpoint. */
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
