import { enableCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

// Everything else is compiled once and kept beside the system's temporary files: the second start is twice as fast.
enableCompileCache()
// What a delivery leaves behind is garbage at once: a small nursery (MB) and a heap that grows slowly (%) keep a flood of
// them out of the process's size.
setFlagsFromString('--max-semi-space-size=4')
setFlagsFromString('--heap-growing-percent=30')
// The engine begins to mark the whole heap as soon as less room is left than its nursery has: in a heap as small as ours
// nearly always, and then the threads that mark take the core from the one that answers. When the room is used up (%) is
// soon enough.
setFlagsFromString('--incremental-marking-soft-trigger=70')
setFlagsFromString('--incremental-marking-hard-trigger=90')
const { run } = await import('./run.ts')
await run()
