import './tour.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { CloseIcon } from '../look/icons.tsx'
import { usePanel } from '../panel/panel-store.ts'
import { useDeed } from '../panel/use-deed.ts'
import { useSlack } from '../store/workspace.tsx'
import { STEPS } from './steps.tsx'
import type { Step } from './steps.tsx'
import { beginStep, changeMemo, openMemo, showStep, useMemo } from './tour-store.ts'
import type { Memo } from './memo.ts'

/** The tour's box. It shows one step at a time, which notices by itself that it was done. */
export function Tour() {
  const isPlaying = usePanel(({ scene }) => scene !== null)
  const memo = useMemo()
  const isKnown = memo !== null
  useEffect(openMemo, [isPlaying])
  useEffect(() => {
    if (isPlaying !== null) beginStep(isPlaying)
  }, [isPlaying, isKnown])
  useFocus(memo)
  if (isPlaying === null || memo === null) return null
  if (isPlaying) return memo.isOpen ? <Playing /> : null
  const step = STEPS[memo.step]
  return memo.isOpen && step ? <StepBox step={step} memo={memo} /> : null
}

/** For keyboard users: focuses the next step, and the tour's button when the tour is closed. */
function useFocus(memo: Memo | null): void {
  const last = useRef<string>(undefined)
  const shown = memo && `${memo.isOpen} ${memo.step}`
  useEffect(() => {
    if (!memo || shown === null) return
    // Do not move the focus when the page opens.
    if (last.current !== undefined)
      document.querySelector<HTMLElement>(memo.isOpen ? '#tour-title' : '#tour-button')?.focus()
    last.current = shown
  }, [shown])
}

/** The button in the line at the bottom, which opens and closes the tour. While a scenario plays, only that is counted. */
export function TourButton() {
  const isPlaying = usePanel(({ scene }) => scene !== null)
  const memo = useMemo()
  if (isPlaying === null || memo === null) return null
  const toggle = () => changeMemo({ isOpen: !memo.isOpen })
  return (
    <button
      id="tour-button"
      class="tour-button"
      type="button"
      aria-expanded={memo.isOpen}
      aria-controls="tour"
      onClick={toggle}
    >
      {isPlaying ? 'Scenario' : `Tour ${Math.min(memo.step + 1, STEPS.length)}/${STEPS.length}`}
    </button>
  )
}

function StepBox({ step, memo }: { step: Step; memo: Memo }) {
  const { title, Text, seen } = step
  const service = usePanel((state) => state.service)
  const isLast = memo.step === STEPS.length - 1
  useSeen(step, memo)
  const go = (to: number) => showStep(to)
  const buttons = (
    <>
      {memo.step > 0 && (
        <button class="button" type="button" onClick={() => go(memo.step - 1)}>
          Back
        </button>
      )}
      {isLast ? (
        <button
          class="button primary"
          type="button"
          onClick={() => changeMemo({ isOpen: false, step: 0, isDone: false })}
        >
          End the tour
        </button>
      ) : (
        <button class={memo.isDone ? 'button primary' : 'button'} type="button" onClick={() => go(memo.step + 1)}>
          {memo.isDone ? 'Next' : 'Skip'}
        </button>
      )}
    </>
  )
  return (
    <Box count={`${memo.step + 1} of ${STEPS.length}`} title={title} isDone={memo.isDone} buttons={buttons}>
      <p>{service && <Text service={service} />}</p>
      {step.isStorm && <StormButton />}
      <p role="status" class={memo.isDone ? 'tour-seen done' : 'tour-seen'}>
        {memo.isDone && service ? `✓ ${typeof seen === 'string' ? seen : seen(service)}` : ''}
      </p>
    </Box>
  )
}

interface BoxProps {
  count: string
  title: string
  isDone?: boolean
  buttons: ComponentChildren
  children: ComponentChildren
}

/** The frame of a step. On a phone it is one line, its title, until somebody asks for the rest. */
function Box({ count, title, isDone = false, buttons, children }: BoxProps) {
  const [isUnfolded, setUnfolded] = useState(false)
  return (
    <section
      id="tour"
      class={['tour', isUnfolded && 'unfolded', isDone && 'done'].filter(Boolean).join(' ')}
      aria-labelledby="tour-title"
    >
      <h2 id="tour-title" tabIndex={-1}>
        <span class="tour-count">{count}</span> {title}
      </h2>
      <button class="tour-fold" type="button" aria-expanded={isUnfolded} onClick={() => setUnfolded(!isUnfolded)}>
        {isUnfolded ? 'Less' : 'More'}
      </button>
      <button class="icon" type="button" aria-label="Dismiss the tour" onClick={() => changeMemo({ isOpen: false })}>
        <CloseIcon />
      </button>
      <div class="tour-body">{children}</div>
      <p class="tour-buttons">{buttons}</p>
    </section>
  )
}

/** Checks after every change whether the step is done. */
function useSeen({ isDone }: Step, { at, isDone: wasDone }: Memo): void {
  const panel = usePanel((state) => state)
  const slack = useSlack((state) => state)
  const isSeen = !wasDone && panel !== null && at !== null && isDone({ panel, slack, at })
  useEffect(() => {
    if (isSeen) changeMemo({ isDone: true })
  }, [isSeen])
}

/** While a scenario plays, the tour only shows it. Otherwise people would mistake its builds for their own. */
function Playing() {
  const scene = usePanel((state) => state.scene)
  const { deed, isBusy } = useDeed()
  if (scene === null) return null
  const skip = (
    <button
      class="button"
      type="button"
      disabled={isBusy}
      onClick={() => void deed('panel/reset', { isPlayed: false })}
    >
      Skip to the tour, with an empty workspace
    </button>
  )
  return (
    <Box count={`${scene.n} of ${scene.of}`} title="Watch the scenario" buttons={skip}>
      <p class="tour-playing">{scene.title}.</p>
      <p>It takes about a minute. Then the tour begins, and you do things yourself.</p>
    </Box>
  )
}

const STORM_BUILDS = 8

function StormButton() {
  const { deed, isBusy } = useDeed()
  const storm = () => void deed('ci/projects/acme%2Fapi/storm', { builds: STORM_BUILDS, failEvery: 5, ms: 8_000 })
  return (
    <p>
      <button class="button" type="button" disabled={isBusy} onClick={storm}>
        Start a storm of {STORM_BUILDS} builds
      </button>
    </p>
  )
}
