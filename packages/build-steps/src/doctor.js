// @ts-check
import { EXIT, Failure } from './program.js'

export const doctorHelp = () => `buildline doctor: what is misconfigured, and how to fix it.

  buildline doctor

It runs where the bot is installed (its folder or its image), beside the running bot or without it, with the bot's
settings: the environment, and a file .env. It asks Slack and CI, looks at the database, and prints each finding with
its remedy. Exit code: 0 when nothing is wrong, 1 when something is.
`

/** @type {import('./program.js').Work} */
export async function doctor(args, env, print) {
  if (args.length > 0) throw new Failure(EXIT.usage, 'doctor takes no arguments. See buildline doctor --help')
  // This imports the bot's own code here and not at the top, because build machines do not have it.
  const { runDoctor } = await import('../../../src/cli/doctor.ts').catch(() => {
    throw new Failure(
      EXIT.other,
      'run the doctor where the bot is installed: in its folder or its image, with its Node',
    )
  })
  return runDoctor(env, (line) => print.text(`${line}\n`))
}
