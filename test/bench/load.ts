import { setTimeout as sleep } from 'node:timers/promises'
import { reportBody, streamBody } from './delivery.ts'
import type { Load, LoadResult } from './load-order.ts'
import { percentile } from './statistics.ts'
import { openWire, type Wire } from './wire.ts'

// The load generator, a process of its own: takes one order as its argument, prints one result.

/** What other servers than the bot answer, too. */
const ACCEPTED = [200, 202]
const TICK_MS = 1

const load = JSON.parse(process.argv[2]!) as Load
const ports = load.ports ?? [load.port]
const wires = await Promise.all(
  Array.from({ length: load.connections }, (_, i) => openWire(ports[i % ports.length]!, load.path)),
)
process.stdout.write(JSON.stringify(await run()))
for (const wire of wires) wire.close()

async function run(): Promise<LoadResult> {
  const latencies: number[] = []
  let errors = 0
  let sent = 0
  const startedAt = performance.now()
  const cpu = process.cpuUsage()

  const isOver = () => sent >= (load.count ?? Infinity) || performance.now() - startedAt >= (load.forMs ?? Infinity)

  async function sendNext(wire: Wire, handedAt: number): Promise<void> {
    const n = sent++
    const body =
      load.reportBytes === undefined ? streamBody(n, load.firstBuild) : reportBody(n, load.firstBuild, load.reportBytes)
    const status = await wire.post(body).catch(() => 0)
    if (ACCEPTED.includes(status)) latencies.push(performance.now() - handedAt)
    else errors++
  }

  async function closedLoop(): Promise<void> {
    await Promise.all(
      wires.map(async (wire) => {
        while (!isOver()) await sendNext(wire, performance.now())
      }),
    )
  }

  // Nobody waits for an answer before the next delivery comes: what the server delays is seen in full.
  async function openLoop(perSecond: number): Promise<void> {
    const idle = [...wires]
    const queued: number[] = []
    const underWay = new Set<Promise<void>>()
    const serve = async (wire: Wire, handedAt: number) => {
      for (let next: number | undefined = handedAt; next !== undefined; next = queued.shift())
        await sendNext(wire, next)
      idle.push(wire)
    }
    const begin = (wire: Wire, handedAt: number) => {
      const one = serve(wire, handedAt).finally(() => underWay.delete(one))
      underWay.add(one)
    }
    for (let handed = 0; !isOver();) {
      const now = performance.now()
      for (; handed < ((now - startedAt) / 1_000) * perSecond; handed++) {
        const wire = idle.pop()
        if (wire) begin(wire, now)
        else queued.push(now)
      }
      await sleep(TICK_MS)
    }
    while (underWay.size > 0) await Promise.all(underWay)
  }

  await (load.perSecond === undefined ? closedLoop() : openLoop(load.perSecond))
  const elapsedMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  return {
    accepted: latencies.length,
    errors,
    elapsedMs,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: percentile(latencies, 1),
    busy: (user + system) / 1_000 / elapsedMs,
  }
}
