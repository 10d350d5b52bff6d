import { small, type Part } from './answer.ts'

/** What is said of channels that the asker cannot look into: how many they are. */
export const hiddenParts = (hidden: number): Part[] =>
  hidden === 0
    ? []
    : [
        small(
          `:lock: ${hidden === 1 ? 'One channel is' : `${hidden} channels are`} left out: you are not in ${hidden === 1 ? 'it' : 'them'}, or Slack does not say so just now.`,
        ),
      ]
