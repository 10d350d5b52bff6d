import { openStoreAt } from '../../support/stores.ts'

// Migrates the database named on the command line when it is told to.
const store = openStoreAt(process.argv[2]!)
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
process.stdin.destroy()
await store.migrate()
await store.close()
