import type { ComponentType } from 'preact'
import { BreakingPanel } from './breaking/breaking-panel.tsx'
import { Figures } from './breaking/figures.tsx'
import { CiPanel } from './ci/ci-panel.tsx'
import { Tour, TourButton } from './tour/tour.tsx'

/** A panel of the dock, beside the conversation. */
export interface Panel {
  /** the name under which the browser remembers it */
  id: string
  /** shown on its button and above it */
  title: string
  /** one character, shown if there is no room for the title */
  sign: string
  Body: ComponentType
}

/** The panels. Each has a button at the top; one can be open at a time. */
export const DOCK: readonly Panel[] = [
  { id: 'ci', title: 'CI', sign: '⚙', Body: CiPanel },
  { id: 'breaking', title: 'Break it', sign: '⚡', Body: BreakingPanel },
]

/** The parts of the line at the bottom, which is always visible. */
export const LINE: readonly ComponentType[] = [Figures, TourButton]

/** Boxes above everything but dialogs, such as the tour. Each draws its own box, or null. */
export const ABOVE: readonly ComponentType[] = [Tour]
