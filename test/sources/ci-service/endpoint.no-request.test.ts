import { expect, it } from 'vitest'
import { delivery, until, WEBHOOK_SECRET } from '../../support/app.ts'
import { head, openWire, statuses } from '../../support/wire.ts'
import { openDoor } from './bot.ts'

const PATH = `/webhooks/builds/${WEBHOOK_SECRET}`
const CHUNKED = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }

const post = (body: string) => head(PATH, { 'content-type': 'application/json', 'content-length': body.length }) + body

it('text that is not HTTP is answered 400, and the connection ends', async () => {
  const wire = openWire((await openDoor()).url)
  wire.write('buildline\r\n\r\n')
  await wire.closed
  expect(wire.received()).toBe('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
})

it('the requests before it on the same connection are answered first', async () => {
  const door = await openDoor()
  const wire = openWire(door.url)
  wire.write(
    `${[1, 2, 3].map((build) => post(JSON.stringify(delivery({ build_id: build })))).join('')}buildline\r\n\r\n`,
  )
  await wire.closed
  expect(statuses(wire)).toEqual([202, 202, 202, 400])
})

it('a body that is not HTTP is answered 400', async () => {
  const wire = openWire((await openDoor()).url)
  wire.write(`${head(PATH, CHUNKED)}buildline\r\n`)
  await wire.closed
  expect(statuses(wire)).toEqual([400])
})

it('a body that is not HTTP gets no second answer if its head was refused', async () => {
  const wire = openWire((await openDoor()).url)
  wire.write(head('/webhooks/builds/wrong', CHUNKED))
  await until('its answer', () => statuses(wire).length > 0)
  wire.write('buildline\r\n')
  await wire.closed
  expect(statuses(wire)).toEqual([404])
})
