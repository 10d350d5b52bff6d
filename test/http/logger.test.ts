import { describe, expect, it } from 'vitest'
import { standardOutput } from '../../src/http/logger.ts'

const failing = (code: string) => Object.assign(new Error(code), { code })

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
