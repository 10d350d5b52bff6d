import { setFlagsFromString } from 'node:v8'

// Files that this process creates are for its own user alone: the database, its log, copies.
process.umask(0o077)
// The engine marks the whole heap long before its room is used up (%), and the threads that mark take the core from the one
// that answers: in a heap as small as ours, every few seconds.
setFlagsFromString('--incremental-marking-soft-trigger=70')
setFlagsFromString('--incremental-marking-hard-trigger=90')
// And it collects all of it whenever it has grown by a quarter, every few seconds too: here only when it has doubled (%).
setFlagsFromString('--heap-growing-percent=100')
const { run } = await import('./run.ts')
await run()
