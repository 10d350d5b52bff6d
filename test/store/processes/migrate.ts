import { openStoreAt } from '../../support/stores.ts'

// When it is told to, brings the tables of the database named on the command line up to date.
const store = openStoreAt(process.argv[2]!)
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
process.stdin.destroy()
await store.migrate()
await store.close()
