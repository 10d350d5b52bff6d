import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { DatabaseSync } from 'node:sqlite'

// What the bot is held against: the least that could answer a delivery.
// bare: parses the JSON and answers. group-commit <path>: one insert, and a fsync for all that came in one turn.

const ACCEPTED = '{"status":"recorded"}'

const [kind = 'bare', path = ''] = process.argv.slice(2)
const record = kind === 'bare' ? async () => {} : createRecord(path)

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => void answer(request, response, Buffer.concat(chunks).toString('utf8')))
}).listen(Number(process.env['PORT']))

async function answer({ method }: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
  if (method === 'POST') await record(JSON.stringify(JSON.parse(text)))
  response.writeHead(202, { 'content-type': 'application/json; charset=utf-8' }).end(ACCEPTED)
}

function createRecord(file: string): (body: string) => Promise<void> {
  const db = new DatabaseSync(file)
  db.exec(
    'pragma journal_mode = wal; pragma synchronous = full; create table delivery (id integer primary key, body text)',
  )
  const insert = db.prepare('insert into delivery (body) values (?)')
  let batch: { body: string; resolve: () => void }[] = []

  function commit(): void {
    const own = batch
    batch = []
    db.exec('begin immediate')
    for (const { body } of own) insert.run(body)
    db.exec('commit')
    for (const { resolve } of own) resolve()
  }

  return (body) =>
    new Promise((resolve) => {
      if (batch.push({ body, resolve }) === 1) setImmediate(commit)
    })
}
