import { describe, expect, it } from 'vitest'
import { readableLine, standardOutput } from '../../src/http/logger.ts'

const failing = (code: string) => Object.assign(new Error(code), { code })

const written = (fields: object) => `${JSON.stringify({ level: 40, time: '2026-11-27T22:26:41.100Z', ...fields })}\n`

describe('a line for people', () => {
  it.each([
    [{ msg: 'ready' }, '22:26:41 warn  ready\n'],
    [
      { part: 'slack', count: 2, what: 'two words', msg: 'said' },
      '22:26:41 warn  said part=slack count=2 what="two words"\n',
    ],
    [{ err: { message: 'why' }, msg: 'failed' }, '22:26:41 warn  failed\n  why\n'],
    [
      { err: { message: 'why', stack: 'Error: why\n    at x' }, msg: 'failed' },
      '22:26:41 warn  failed\n  Error: why\n    at x\n',
    ],
    [
      { what: '\u001b[2J', msg: 'one\n22:26:41 error forged \u001b[1m' },
      '22:26:41 warn  one 22:26:41 error forged \\u001b[1m what="\\u001b[2J"\n',
    ],
  ])('of %j', (fields, shown) => {
    expect(readableLine(written(fields))).toBe(shown)
  })

  it('shows a line that cannot be parsed as it is', () => {
    expect(readableLine('{"msg":"[secret]\n')).toMatch(/\{"msg":"\[secret\]\n$/)
  })

  it('is written on a terminal only; elsewhere it is JSON', () => {
    const taken: string[] = []
    const take = (bytes: Uint8Array) => taken.push(Buffer.from(bytes).toString()) && bytes.length
    standardOutput(take, true).write(written({ msg: 'up' }))
    standardOutput(take, false).write(written({ msg: 'up' }))
    expect(taken).toEqual(['22:26:41 warn  up\n', written({ msg: 'up' })])
  })
})

describe('the output of the log', () => {
  it('writes each line completely, however little is accepted at once', () => {
    const taken: string[] = []
    const output = standardOutput((line) => {
      taken.push(Buffer.from(line.subarray(0, 3)).toString())
      return Math.min(3, line.length)
    })
    output.write('{"level":30}\n')
    expect(taken.join('')).toBe('{"level":30}\n')
  })

  it('waits for a slow reader for a moment', () => {
    const taken: string[] = []
    let isFirst = true
    const output = standardOutput((line) => {
      if (isFirst) {
        isFirst = false
        throw failing('EAGAIN')
      }
      taken.push(Buffer.from(line).toString())
      return line.length
    })
    output.write('one\n')
    expect(taken).toEqual(['one\n'])
  })

  it('waits a second for a reader that has stopped, and then not at all until it reads again', () => {
    const taken: string[] = []
    let tries = 0
    let isStuck = true
    const output = standardOutput((line) => {
      tries += 1
      if (isStuck) throw failing('EAGAIN')
      taken.push(Buffer.from(line).toString())
      return line.length
    })
    output.write('one\n')
    expect(tries).toBe(101)
    output.write('two\n')
    expect(tries).toBe(102)
    isStuck = false
    output.write('three\n')
    expect(taken).toEqual(['three\n'])
  })

  it('writes nothing to a reader that is gone', () => {
    let tries = 0
    const output = standardOutput(() => {
      tries += 1
      throw failing('EPIPE')
    })
    output.write('one\n')
    output.write('two\n')
    expect(tries).toBe(1)
  })
})
