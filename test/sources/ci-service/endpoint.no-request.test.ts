import { expect, it } from 'vitest'
import { until, WEBHOOK_SECRET } from '../../support/app.ts'
import { head, openWire, statuses } from '../../support/wire.ts'
import { openDoor } from './bot.ts'

const PATH = `/webhooks/builds/${WEBHOOK_SECRET}`
const CHUNKED = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }

it('text that is not HTTP is answered 400, and the connection ends', async () => {
  const wire = openWire((await openDoor()).url)
  wire.write('buildline\r\n\r\n')
  await wire.closed
  expect(wire.received()).toBe('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
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
