import { useEffect, useState } from 'preact/hooks'
import { usePanel } from './panel-store.ts'
import { useDeed } from './use-deed.ts'

interface Wish<Value> {
  value: Value
  isDone: boolean
}

/**
 * What stands in a control that the other side keeps: what one has just chosen, until news of the other side comes after
 * it was done. Otherwise it would jump back and forth.
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
