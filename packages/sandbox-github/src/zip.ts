import { crc32 } from 'node:zlib'

/** A zip archive of these texts, not compressed. Source: PKWARE, "APPNOTE.TXT", 4.3. */
export function zipOf(files: readonly { name: string; text: string }[]): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, text } of files) {
    const [path, bytes] = [Buffer.from(name), Buffer.from(text)]
    const about = aboutOf(path, bytes)
    bodies.push(numbers([4, 0x04034b50]), about, path, bytes)
    const place = numbers([2, 0], [2, 0], [2, 0], [4, 0], [4, offset])
    directory.push(numbers([4, 0x02014b50], [2, VERSION]), about, place, path)
    offset = bodies.reduce((sum, part) => sum + part.length, 0)
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0)
  const count = files.length
  const end = numbers([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, offset], [2, 0])
  return Buffer.concat([...bodies, ...directory, end])
}

const VERSION = 20
/** The names are UTF-8. */
const FLAGS = 0x0800
/** 1 January 1980, the earliest date that can be written. */
const DATE = 0x21

/** What both headers of a file say: version, flags, no compression, time, checksum, sizes, length of its name. */
function aboutOf(path: Buffer, bytes: Buffer): Buffer {
  const sizes = [
    [4, bytes.length],
    [4, bytes.length],
    [2, path.length],
    [2, 0],
  ] as const
  return numbers([2, VERSION], [2, FLAGS], [2, 0], [2, 0], [2, DATE], [4, crc32(bytes)], ...sizes)
}

function numbers(...fields: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0))
  let at = 0
  for (const [bytes, value] of fields) at = buffer.writeUIntLE(value, at, bytes)
  return buffer
}
