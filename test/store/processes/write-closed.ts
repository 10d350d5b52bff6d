import { openStoreAt } from '../../support/stores.ts'

// Writes to a closed store, and exits with 0 if that is rejected.
const store = openStoreAt(process.argv[2]!)
await store.read.lastDoneAt('job')
await store.close()
const isRefused = await store
  .write((tx) => tx.setLastDoneAt('job', 1))
  .then(
    () => false,
    () => true,
  )
process.exitCode = isRefused ? 0 : 2
