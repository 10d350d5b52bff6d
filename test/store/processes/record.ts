import { openStoreAt } from '../../support/stores.ts'
import { buildEvent } from '../given.ts'
import { T0 } from '../../support/build-events.ts'

// Records builds, several at once, and prints the number of each when its write has resolved. It never ends.
const store = openStoreAt(process.argv[2]!)
const SIDE_BY_SIDE = 16
let next = 1

async function record(): Promise<void> {
  for (;;) {
    const build = String(next++)
    await store.write(async (tx) => {
      const eventSeq = await tx.insertBuildEvent(...buildEvent({ build }))
      await tx.insertDelivery({ receivedAt: T0, answer: 'recorded', eventSeq, body: build })
    })
    process.stdout.write(`${build}\n`)
  }
}

await Promise.all(Array.from({ length: SIDE_BY_SIDE }, record))
