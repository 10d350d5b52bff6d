import { describe, expect, it } from 'vitest'
import { AT_ONCE_BYTES_MAX, createBodyQueue, PROVEN_ADDRESSES_MAX, SLOW_MS_MAX } from '../../src/http/body-queue.ts'
import { createHandClock } from '../support/hand-clock.ts'

const MIB = 1024 * 1024
const OTHERS = ['198.51.100.2', '198.51.100.3', '198.51.100.4']
const TURNS = 100
const [ADA, GUS, STRANGER] = ['203.0.113.7', '203.0.113.8', '198.51.100.1']

/** A queue in which bodies of 4 MiB together are read. */
function open() {
  const clock = createHandClock(0)
  const queue = createBodyQueue({ bytesMax: 4 * MIB, clock, running: clock.now })
  const log: string[] = []
  /** Lets the event loop turn often enough for every body that has begun. */
  async function calm(): Promise<void> {
    for (let n = 0; n < TURNS; n++) await clock.settle()
  }
  return {
    clock,
    queue,
    calm,
    /** What happened, in order: `+` begun, `-` given up. */
    log,
    /** @returns ends the body */
    enter(name: string, address: string, bytes = MIB) {
      const leave = queue.enter(address, bytes, {
        begin: () => log.push(`+${name}`),
        giveUp: () => {
          log.push(`-${name}`)
          leave()
        },
      })
      return leave
    },
    /** Begins a body of 1 MiB from each address. @returns ends each */
    async fill(...addresses: readonly string[]) {
      const leave = addresses.map((address) => queue.enter(address, MIB, { begin() {}, giveUp() {} }))
      await calm()
      return leave
    },
  }
}

describe('a body', () => {
  it(`of up to ${AT_ONCE_BYTES_MAX} bytes never waits`, async () => {
    const { enter, fill, log } = open()
    await fill(ADA, ADA, ADA, ADA)
    enter('small', ADA, AT_ONCE_BYTES_MAX)
    enter('large', ADA, AT_ONCE_BYTES_MAX + 1)
    expect(log).toEqual(['+small'])
  })

  it('is begun at once if there is room', () => {
    const { enter, log } = open()
    enter('one', ADA, 4 * MIB)
    expect(log).toEqual(['+one'])
  })

  it('waits for those before it, of whatever address, until one has ended', async () => {
    const { calm, enter, fill, log } = open()
    const [end] = await fill(ADA, ADA, ADA, ADA)
    enter('next', ADA)
    await calm()
    expect(log).toEqual([])
    end!()
    end!()
    expect(log).toEqual(['+next'])
  })

  it('that was given up while it waited is not begun', async () => {
    const { enter, fill, log } = open()
    const [end] = await fill(ADA, ADA, ADA, ADA)
    const leave = enter('gone', ADA)
    leave()
    enter('next', ADA)
    end!()
    expect(log).toEqual(['+next'])
  })

  it('waits for a turn of the event loop after another large one, so that connections are accepted in between', async () => {
    const { calm, clock, enter, log } = open()
    enter('first', ADA, 2 * MIB)
    enter('second', ADA)
    expect(log).toEqual(['+first'])
    await clock.settle()
    expect(log).toEqual(['+first'])
    await calm()
    expect(log).toEqual(['+first', '+second'])
  })
})

describe('of bodies that wait', () => {
  /** Four bodies are being read, others wait, and the four end. @returns who was begun, in order */
  async function orderOf(prepare: (stage: ReturnType<typeof open>) => void): Promise<string[]> {
    const stage = open()
    const end = await stage.fill(...OTHERS, STRANGER)
    prepare(stage)
    expect(stage.log).toEqual([])
    for (const one of end) {
      one()
      await stage.calm()
    }
    return stage.log
  }

  it('the smallest, the oldest and the newest are begun in turn', async () => {
    const order = await orderOf(({ enter }) => {
      for (const name of ['a', 'b', 'c', 'd']) enter(name, ADA)
      enter('smallest', ADA, MIB / 2)
      enter('newest', ADA)
    })
    // The four before them had a turn each.
    expect(order).toEqual(['+a', '+newest', '+smallest', '+b'])
  })

  it('one of an address that has proven itself is first', async () => {
    const order = await orderOf(({ enter, queue }) => {
      for (const name of ['a', 'b']) enter(name, ADA)
      enter('known', GUS)
      queue.prove(GUS)
    })
    expect(order[0]).toBe('+known')
  })

  it('the first are those of the address that has least in progress, however many others have sent', async () => {
    const order = await orderOf(({ enter }) => {
      for (let n = 0; n < 100; n++) enter(`s${n}`, STRANGER, MIB / 2)
      enter('honest', ADA)
      enter('s', STRANGER, MIB / 2)
    })
    expect(order[0]).toBe('+honest')
  })
})

describe('if there is no room', () => {
  it('an address with more than its share gives up its oldest body for another address', async () => {
    const { calm, enter, fill, log } = open()
    enter('first', STRANGER)
    await fill(STRANGER, STRANGER, STRANGER)
    await calm()
    enter('honest', ADA)
    expect(log).toEqual(['+first', '-first', '+honest'])
  })

  it('an address gives up nothing for one that would then have more', async () => {
    const { calm, enter, log } = open()
    enter('gus', GUS, 2 * MIB)
    enter('ada', ADA, 2 * MIB)
    await calm()
    enter('more', ADA)
    enter('large', STRANGER, 2 * MIB)
    expect(log).toEqual(['+gus', '+ada'])
  })

  it(`a body that takes ${SLOW_MS_MAX} ms is given up for another one of its address, and not before`, async () => {
    const { calm, clock, enter, log } = open()
    enter('slow', ADA, 4 * MIB)
    await calm()
    enter('next', ADA)
    await clock.advance(SLOW_MS_MAX - 1)
    expect(log).toEqual(['+slow'])
    await clock.advance(1)
    expect(log).toEqual(['+slow', '-slow', '+next'])
  })

  it('a slow body is not given up while nobody waits', async () => {
    const { clock, enter, log } = open()
    enter('slow', ADA, 4 * MIB)
    await clock.advance(60 * SLOW_MS_MAX)
    expect(log).toEqual(['+slow'])
  })

  it('strangers give up theirs for an address that has proven itself, and never the other way round', async () => {
    const { calm, clock, enter, log, queue } = open()
    queue.prove(ADA)
    enter('stranger', STRANGER, 2 * MIB)
    enter('gus', GUS, 2 * MIB)
    await calm()
    enter('ada', ADA, 4 * MIB)
    expect(log).toEqual(['+stranger', '+gus', '-stranger', '-gus', '+ada'])
    await calm()
    enter('again', STRANGER)
    await clock.advance(10 * SLOW_MS_MAX)
    expect(log).toHaveLength(5)
  })

  it('nothing is given up if that would not make enough', async () => {
    const { calm, enter, log, queue } = open()
    queue.prove(ADA)
    enter('ada', ADA, 3 * MIB)
    enter('stranger', STRANGER)
    await calm()
    enter('too large', ADA, 2 * MIB)
    expect(log).toEqual(['+ada', '+stranger'])
  })
})

it(`${PROVEN_ADDRESSES_MAX} addresses are remembered; then the one is forgotten that proved itself longest ago`, async () => {
  const stage = open()
  stage.queue.prove(ADA)
  stage.queue.prove(GUS)
  stage.queue.prove(ADA)
  for (let n = 2; n < PROVEN_ADDRESSES_MAX; n++) stage.queue.prove(`192.0.${n >> 8}.${n & 255}`)
  const displaces = async (address: string) => {
    const before = stage.log.length
    const end = await stage.fill(STRANGER, STRANGER, STRANGER, STRANGER)
    const leave = stage.enter('x', address, 4 * MIB)
    const isDisplacing = stage.log.length > before
    for (const one of [...end, leave]) one()
    return isDisplacing
  }
  expect(await displaces(GUS)).toBe(true)
  stage.queue.prove('192.0.2.200')
  stage.queue.prove('198.18.0.1')
  expect([await displaces(ADA), await displaces(GUS)]).toEqual([true, false])
})
