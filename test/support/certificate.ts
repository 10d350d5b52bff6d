import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer as createTcpServer } from 'node:net'
import { createServer, type Server } from 'node:https'
import type { Server as TcpServer } from 'node:net'
import { TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'

/** A new key, and a certificate of it for 127.0.0.1, as an authority of its own would make: nobody knows it. PEM. */
export function selfSigned(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(oid(85, 4, 3), der(0x0c, Buffer.from('authority of its own')))))
  const day = 24 * 60 * 60_000
  const addresses = sequence(der(0x87, Buffer.from([127, 0, 0, 1])))
  const extensions = der(0xa3, sequence(sequence(oid(85, 29, 17), der(0x04, addresses))))
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_SHA256,
    name,
    sequence(utcTime(Date.now() - day), utcTime(Date.now() + day)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  )
  const bits = der(0x03, Buffer.from([0]), sign('sha256', signed, privateKey))
  const lines = sequence(signed, ECDSA_SHA256, bits).toString('base64').replace(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}

// The distinguished encoding: a tag, the length, the content.
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts)
const set = (part: Buffer): Buffer => der(0x31, part)
/** An object identifier whose numbers are all below 128. */
const oid = (...numbers: readonly number[]): Buffer => der(0x06, Buffer.from(numbers))
/** 1.2.840.10045.4.3.2 */
const ECDSA_SHA256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')))
const utcTime = (at: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().slice(2, 19).replace(/\D/g, '')}Z`))

/** An HTTPS server with that certificate; it answers 200 with an empty list. */
export async function startHttps(identity = selfSigned()): Promise<string> {
  const server = createServer(identity, (_, response) => void response.end('[]'))
  return `https://127.0.0.1:${await portOf(server)}`
}

/** A PostgreSQL server with that certificate that says nothing beyond it. */
export async function startPostgresTls(): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    // It asks for TLS, and the answer is yes.
    socket.once('data', () => {
      socket.write('S')
      new TLSSocket(socket, { isServer: true, ...selfSigned() }).on('error', () => {})
    })
  })
  return `postgres://bot:secret@127.0.0.1:${await portOf(server)}/buildline?sslmode=verify-full`
}

async function portOf(server: Server | TcpServer): Promise<number> {
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
