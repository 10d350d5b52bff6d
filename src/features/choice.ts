import { commandNamed } from './commands.ts'
import type { Click } from './click.ts'
import type { Reply } from './context.ts'
import { questionAbout } from './run.ts'
import { parseChoice } from './values.ts'

/** A name meant several things, and one of them was chosen: the command again, about that one. */
export async function repeatWithChoice({ door, value, by, opener, reference }: Click): Promise<Reply | null> {
  const choice = parseChoice(value)
  const choose = choice && commandNamed(choice.command)?.choose
  if (!choice || !choose) return null
  return choose(questionAbout(door, choice.command, { by, thread: null, opener, reference }), choice)
}
