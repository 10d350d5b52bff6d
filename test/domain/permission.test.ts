import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { permit, type Grants, type Person, type Right } from '../../src/domain/permission.ts'

const GUS = 'U0GUS00001'
const OPS_GROUP = 'S0OPERATOR'

const NOBODY_LISTED: Grants = { operators: [], admins: [] }

const person = (traits: Partial<Person> = {}): Person => ({
  id: GUS,
  isGuest: false,
  isOutsider: false,
  isDeactivated: false,
  isBot: false,
  isAdmin: false,
  ...traits,
})

const verdict = (...question: Parameters<typeof permit>): string => {
  const permitted = permit(...question)
  return permitted.kind === 'yes' ? 'yes' : permitted.why
}

const fourTimes = (why: string): [string, string, string, string] => [why, why, why, why]

describe('by default', () => {
  it.each<[who: string, traits: Partial<Person>, ...verdicts: [string, string, string, string]]>([
    ['a member', {}, 'yes', 'yes', 'yes', 'not-admin'],
    ['an admin', { isAdmin: true }, 'yes', 'yes', 'yes', 'yes'],
    ['a guest', { isGuest: true }, 'yes', 'guest', 'guest', 'guest'],
    ['an outsider', { isOutsider: true }, 'outsider', 'outsider', 'outsider', 'outsider'],
    ['an admin of another workspace', { isOutsider: true, isAdmin: true }, ...fourTimes('outsider')],
    ['a guest who is called an admin', { isGuest: true, isAdmin: true }, 'yes', 'guest', 'guest', 'guest'],
    ['a bot', { isBot: true, isAdmin: true }, ...fourTimes('bot')],
    ['someone who left', { isDeactivated: true, isAdmin: true }, ...fourTimes('deactivated')],
  ])('%s', (_, traits, read, subscribe, operate, administer) => {
    const of = (right: Right) => verdict(right, person(traits), NOBODY_LISTED, [])
    const verdicts = (['read', 'subscribe', 'operate', 'administer'] as const).map(of)
    expect(verdicts).toEqual([read, subscribe, operate, administer])
  })

  it('names nobody who may: everyone of a kind may', () => {
    expect(permit('administer', person(), NOBODY_LISTED, [])).toEqual({ kind: 'no', why: 'not-admin', who: [] })
  })

  it('takes nothing from being in a group', () => {
    expect(verdict('administer', person(), NOBODY_LISTED, [OPS_GROUP])).toBe('not-admin')
  })
})

describe.each([
  ['operate', 'operators', 'admins'],
  ['administer', 'admins', 'operators'],
] as const)('where a list says who may %s', (right, own, other) => {
  const listing = (...ids: string[]): Grants => ({ ...NOBODY_LISTED, [own]: ids })

  it('whoever is on it may, by name or by group', () => {
    expect(verdict(right, person(), listing('U0ADA00001', GUS), [])).toBe('yes')
    expect(verdict(right, person(), listing(OPS_GROUP), [OPS_GROUP])).toBe('yes')
  })

  it('nobody else may, not even an admin, and is told who may', () => {
    const grants = listing('U0ADA00001', OPS_GROUP)
    const refused = { kind: 'no', why: 'not-listed', who: ['U0ADA00001', OPS_GROUP] }
    expect(permit(right, person({ isAdmin: true }), grants, [])).toEqual(refused)
    expect(permit(right, person(), grants, ['S0ANOTHER1'])).toEqual(refused)
  })

  it('a guest or an outsider who is on it may: whoever wrote the list meant them', () => {
    expect(verdict(right, person({ isGuest: true }), listing(GUS), [])).toBe('yes')
    expect(verdict(right, person({ isOutsider: true }), listing(GUS), [])).toBe('yes')
  })

  it('a bot or someone who left may not, though the list names them', () => {
    expect(verdict(right, person({ isBot: true }), listing(GUS), [])).toBe('bot')
    expect(verdict(right, person({ isDeactivated: true }), listing(GUS), [])).toBe('deactivated')
  })

  it('it says nothing of the other right, nor of reading', () => {
    expect(verdict(right, person({ isAdmin: true }), { ...NOBODY_LISTED, [other]: ['U0ADA00001'] }, [])).toBe('yes')
    expect(verdict('read', person(), listing('U0ADA00001'), [])).toBe('yes')
    expect(verdict('subscribe', person(), listing('U0ADA00001'), [])).toBe('yes')
    expect(verdict('subscribe', person({ isGuest: true }), listing(GUS), [])).toBe('guest')
  })
})

describe('whoever asks', () => {
  const flag = fc.boolean()
  const anyPerson = fc.record({
    id: fc.constantFrom(GUS, 'U0ADA00001', 'W0LIN00001', ''),
    isGuest: flag,
    isOutsider: flag,
    isDeactivated: flag,
    isBot: flag,
    isAdmin: flag,
  })
  const ids = fc.array(fc.constantFrom(GUS, 'U0ADA00001', OPS_GROUP, 'S0ANOTHER1'), { maxLength: 3 })
  const anyGrants = fc.record({ operators: ids, admins: ids })

  it('a machine and someone who left may nothing', () => {
    const rights = fc.constantFrom<Right>('read', 'subscribe', 'operate', 'administer')
    fc.assert(
      fc.property(rights, anyPerson, anyGrants, ids, (right, who, grants, groups) => {
        if (who.isBot || who.isDeactivated) expect(permit(right, who, grants, groups).kind).toBe('no')
      }),
    )
  })

  it('may by default at most what one with fewer limits may', () => {
    fc.assert(
      fc.property(anyPerson, (who) => {
        const may = (right: Right) => permit(right, who, NOBODY_LISTED, []).kind === 'yes'
        if (may('administer')) expect(may('operate')).toBe(true)
        if (may('operate')) expect(may('subscribe')).toBe(true)
        if (may('subscribe')) expect(may('read')).toBe(true)
      }),
    )
  })
})
