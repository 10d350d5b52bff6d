import { recordDelivery, type RecordDelivery } from '../../src/alerts/record/record.ts'
import type { Recorded } from '../../src/domain/builds/build-event.ts'

/** Records a delivery whose answer reaches the sender. */
export async function recordAcknowledged(
  deps: RecordDelivery,
  delivery: Parameters<typeof recordDelivery>[1],
): Promise<Recorded> {
  const recorded = await recordDelivery(deps, delivery)
  await deps.store.write((tx) => tx.acknowledge([recorded.eventSeq]))
  return recorded
}
