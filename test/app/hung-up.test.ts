import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { isClientGone } from '../../src/http/answer.ts'
import { createHandClock } from '../support/hand-clock.ts'
import { until } from '../support/app.ts'

const REQUEST = 'POST /webhooks/builds/x HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}'

/** Whether a request counts as abandoned whose sender does this within a moment. */
async function ask(then: (sender: Socket) => void): Promise<boolean> {
  const clock = createHandClock(0)
  const said = Promise.withResolvers<boolean>()
  const seen = { isAsked: false, isGone: false }
  const server = createServer((request) => {
    request.socket.on('end', () => (seen.isGone = true)).on('close', () => (seen.isGone = true))
    request.resume()
    seen.isAsked = true
    isClientGone(request, clock).then(said.resolve, said.reject)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sender = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  onTestFinished(() => {
    sender.destroy()
    server.close()
  })
  sender.write(REQUEST)
  await until('the request is there', () => seen.isAsked)
  then(sender)
  if (sender.destroyed || sender.writableEnded) await until('that is seen', () => seen.isGone)
  await clock.advance(20)
  return said.promise
}

it('a sender that waits for the answer has not hung up', async () => {
  expect(await ask(() => {})).toBe(false)
})

it('a sender that closed the connection has hung up, even if the process learns it only after a pause', async () => {
  expect(await ask((sender) => sender.destroy())).toBe(true)
  expect(await ask((sender) => sender.resetAndDestroy())).toBe(true)
})

it('a sender that closed its half of the connection has hung up, since a waiting one does not do that', async () => {
  expect(await ask((sender) => sender.end())).toBe(true)
})
