import { writeFileSync } from 'node:fs'
import { COMMANDS } from '../listeners/commands/index.ts'
import { commandDocs } from './command-docs/page.ts'

/** `npm run docs`: writes docs/commands.md, every command with everything it can answer, as the code says it. */
writeFileSync(new URL('../../docs/commands.md', import.meta.url), commandDocs(COMMANDS))
