import { createContext } from 'preact'
import type { ComponentChildren } from 'preact'
import { useContext, useMemo, useRef, useState } from 'preact/hooks'
import { TextLine } from '../slack/text.tsx'
import type { Confirm } from '../store/wire.ts'
import { Dialog } from './dialog.tsx'

/** Opens a dialog with the texts of an element's `confirm`. Resolves to true if the person says yes. */
export type Ask = (confirm: Confirm) => Promise<boolean>

const AskContext = createContext<Ask>(() => Promise.resolve(false))

export const useAsk = (): Ask => useContext(AskContext)

interface Question {
  confirm: Confirm
  answer: (isSure: boolean) => void
}

/** Provides `useAsk` to the components inside, and draws the dialog. */
export function AskProvider({ children }: { children: ComponentChildren }) {
  const [question, setQuestion] = useState<Question | null>(null)
  const ask = useMemo<Ask>(() => (confirm) => new Promise((answer) => setQuestion({ confirm, answer })), [])
  const answer = (isSure: boolean) => {
    question?.answer(isSure)
    setQuestion(null)
  }
  return (
    <AskContext.Provider value={ask}>
      {children}
      {question && <Sure confirm={question.confirm} onAnswer={answer} />}
    </AskContext.Provider>
  )
}

function Sure({ confirm: words, onAnswer }: { confirm: Confirm; onAnswer: (isSure: boolean) => void }) {
  const no = useRef<HTMLButtonElement>(null)
  const { title, text, confirm, deny, style = 'primary' } = words
  return (
    <Dialog
      id="confirm"
      labelledBy="confirm-title"
      describedBy="confirm-text"
      focusFirst={no}
      onClose={() => onAnswer(false)}
    >
      <h2 id="confirm-title">{title.text}</h2>
      <p id="confirm-text">
        <TextLine text={text} />
      </p>
      <p class="answers">
        <button id="confirm-no" ref={no} class="button" type="button" onClick={() => onAnswer(false)}>
          {deny.text}
        </button>
        <button id="confirm-yes" class={`button filled ${style}`} type="button" onClick={() => onAnswer(true)}>
          {confirm.text}
        </button>
      </p>
    </Dialog>
  )
}
