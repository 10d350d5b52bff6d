import type { ComponentType } from 'preact'
import { BreakingPanel } from './breaking/breaking-panel.tsx'
import { Figures } from './breaking/figures.tsx'
import { CiPanel } from './ci/ci-panel.tsx'
import { Tour, TourButton } from './tour/tour.tsx'

/** A panel of the dock, which stands beside the conversation. */
export interface Panel {
  /** what the browser remembers it by */
  id: string
  /** on its button, and above it */
  title: string
  /** one character, for where there is no room for the title */
  sign: string
  Body: ComponentType
}

/** Each has a button at the top; one at a time lies open. */
export const DOCK: readonly Panel[] = [
  { id: 'ci', title: 'CI', sign: '⚙', Body: CiPanel },
  { id: 'breaking', title: 'Break it', sign: '⚡', Body: BreakingPanel },
]

/** Always in sight, in the line at the bottom. */
export const LINE: readonly ComponentType[] = [Figures, TourButton]

/** Above everything but dialogs, such as a tour: each draws its own box, and null while there is nothing to say. */
export const ABOVE: readonly ComponentType[] = [Tour]
