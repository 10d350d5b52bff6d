import { useEffect, useState } from 'preact/hooks'
import { usePanel } from './panel-store.ts'
import { useDeed } from './use-deed.ts'

interface Wish<Value> {
  value: Value
  isDone: boolean
}

/**
 * The value of a control whose state is on the server. Shows the person's choice until a state arrives after the call
 * succeeded. Otherwise the control would jump back and forth.
 */
export function useWish<Value>(kept: Value, path: string, bodyFor: (value: Value) => unknown) {
  const [wish, setWish] = useState<Wish<Value> | null>(null)
  const newsAt = usePanel((state) => state.now)
  const { deed } = useDeed()
  useEffect(() => {
    if (wish?.isDone) setWish(null)
  }, [newsAt])
  const choose = async (value: Value) => {
    setWish({ value, isDone: false })
    setWish((await deed(path, bodyFor(value))) ? { value, isDone: true } : null)
  }
  return { value: wish ? wish.value : kept, choose: (value: Value) => void choose(value) }
}
