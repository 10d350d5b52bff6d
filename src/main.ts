import { setFlagsFromString } from 'node:v8'

// Files that this process creates are for its own user alone: the database, its log, copies.
process.umask(0o077)
// By default V8 begins to mark the whole heap long before it is full (%), and its marking threads take the core from
// the thread that answers. In a heap as small as ours, that would be every few seconds.
setFlagsFromString('--incremental-marking-soft-trigger=70')
setFlagsFromString('--incremental-marking-hard-trigger=90')
// V8 also collects the whole heap whenever it has grown by a quarter, every few seconds too: wait until it doubled (%).
setFlagsFromString('--heap-growing-percent=100')
const { run } = await import('./run.ts')
await run()
