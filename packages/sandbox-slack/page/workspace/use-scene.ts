import { useMemo } from 'preact/hooks'
import type { Scene } from '../slack/scene.ts'
import type { Block, Element, Message, Value } from '../store/wire.ts'
import { useActs, useNow, useSlack } from '../store/workspace.tsx'
import { useAsk } from './ask.tsx'
import { useNames } from './use-names.ts'

/** Returns a function that gives the scene of a message: the same object until names, users or channels change. */
export function useMessageScenes(): (message: Message) => Scene {
  const { perform } = useActs()
  const ask = useAsk()
  const now = useNow()
  const names = useNames()
  const users = useSlack((state) => state.users)
  const channels = useSlack((state) => state.channels)
  return useMemo(() => {
    const known = { names, users: [...users.values()], channels: [...channels.values()], person: names.me ?? '' }
    const press = async ({ channel, ts }: Message, element: Element, block: Block, selected?: Value) => {
      const isLink = element.url !== undefined
      if (element.confirm && !isLink && !(await ask(element.confirm))) return
      const what = { actionId: element.action_id, blockId: block.block_id, ...(selected ? { selected } : {}) }
      await perform({ kind: 'click', user: now().person, channel, ts, ...what })
    }
    const search = async ({ channel, ts }: Message, element: Element, block: Block, value: string) => {
      const what = { actionId: element.action_id, blockId: block.block_id, value }
      return (await perform({ kind: 'search', user: now().person, channel, ts, ...what })).outcome.options ?? []
    }
    const scenes = new WeakMap<Message, Scene>()
    return (message) => {
      const scene = scenes.get(message) ?? {
        ...known,
        press: (...used) => void press(message, ...used),
        search: (...typed) => search(message, ...typed),
      }
      scenes.set(message, scene)
      return scene
    }
  }, [names, users, channels])
}
