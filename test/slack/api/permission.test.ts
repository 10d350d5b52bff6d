import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { permit, type Grants, type Person, type Right } from '../../../src/slack/api/permission.ts'

const GUS = 'U0GUS00001'
const OPS_GROUP = 'S0OPERATOR'

const NOBODY_LISTED: Grants = { operators: [], approvers: [], admins: [] }

const person = (traits: Partial<Person> = {}): Person => ({
  ids: [GUS],
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
    ['a guest who is marked as an admin', { isGuest: true, isAdmin: true }, 'yes', 'guest', 'guest', 'guest'],
    ['a bot', { isBot: true, isAdmin: true }, ...fourTimes('bot')],
    ['a person who left', { isDeactivated: true, isAdmin: true }, ...fourTimes('deactivated')],
  ])('%s', (_, traits, read, subscribe, operate, administer) => {
    const of = (right: Right) => verdict(right, person(traits), NOBODY_LISTED, [])
    const verdicts = (['read', 'subscribe', 'operate', 'administer'] as const).map(of)
    expect(verdicts).toEqual([read, subscribe, operate, administer])
  })

  it('no names are given for who may: everybody of a kind may', () => {
    expect(permit('administer', person(), NOBODY_LISTED, [])).toEqual({ kind: 'no', why: 'not-admin', who: [] })
  })

  it('membership of a group gives no rights', () => {
    expect(verdict('administer', person(), NOBODY_LISTED, [OPS_GROUP])).toBe('not-admin')
  })
})

describe('who may let waiting builds go on', () => {
  const operators: Grants = { ...NOBODY_LISTED, operators: [GUS] }

  it('is who may operate, unless others are listed', () => {
    expect(verdict('approve', person(), NOBODY_LISTED, [])).toBe('yes')
    expect(verdict('approve', person(), operators, [])).toBe('yes')
    expect(verdict('approve', person(), { ...operators, approvers: ['U0ADA00001'] }, [])).toBe('not-listed')
    expect(verdict('approve', person(), { ...NOBODY_LISTED, approvers: [GUS] }, [])).toBe('yes')
    expect(verdict('operate', person(), { ...NOBODY_LISTED, approvers: ['U0ADA00001'] }, [])).toBe('yes')
  })

  it('is never a guest or an outsider, even one who is listed', () => {
    for (const grants of [operators, { ...NOBODY_LISTED, approvers: [GUS] }]) {
      expect(verdict('approve', person({ isGuest: true }), grants, [])).toBe('guest')
      expect(verdict('approve', person({ isOutsider: true }), grants, [])).toBe('outsider')
    }
  })
})

describe.each([
  ['operate', 'operators', 'admins'],
  ['administer', 'admins', 'operators'],
] as const)('with a list of who may %s', (right, own, other) => {
  const listing = (...ids: string[]): Grants => ({ ...NOBODY_LISTED, [own]: ids })

  it('the people and the members of the groups on it may', () => {
    expect(verdict(right, person(), listing('U0ADA00001', GUS), [])).toBe('yes')
    expect(verdict(right, person(), listing(OPS_GROUP), [OPS_GROUP])).toBe('yes')
  })

  it.each([GUS, 'W0GUS00001'])('a person with two ids may, whichever is on it: %s', (id) => {
    expect(verdict(right, person({ ids: [GUS, 'W0GUS00001'] }), listing(id), [])).toBe('yes')
  })

  it('nobody else may, not even an admin, and the refusal says who may', () => {
    const grants = listing('U0ADA00001', OPS_GROUP)
    const refused = { kind: 'no', why: 'not-listed', who: ['U0ADA00001', OPS_GROUP] }
    expect(permit(right, person({ isAdmin: true }), grants, [])).toEqual(refused)
    expect(permit(right, person(), grants, ['S0ANOTHER1'])).toEqual(refused)
  })

  it('a guest or an outsider on it may: whoever wrote the list meant them', () => {
    expect(verdict(right, person({ isGuest: true }), listing(GUS), [])).toBe('yes')
    expect(verdict(right, person({ isOutsider: true }), listing(GUS), [])).toBe('yes')
  })

  it('a bot or a person who left may not, even if the list names them', () => {
    expect(verdict(right, person({ isBot: true }), listing(GUS), [])).toBe('bot')
    expect(verdict(right, person({ isDeactivated: true }), listing(GUS), [])).toBe('deactivated')
  })

  it('the other rights stay as they are', () => {
    expect(verdict(right, person({ isAdmin: true }), { ...NOBODY_LISTED, [other]: ['U0ADA00001'] }, [])).toBe('yes')
    expect(verdict('read', person(), listing('U0ADA00001'), [])).toBe('yes')
    expect(verdict('subscribe', person(), listing('U0ADA00001'), [])).toBe('yes')
    expect(verdict('subscribe', person({ isGuest: true }), listing(GUS), [])).toBe('guest')
  })
})

describe('whatever the lists say', () => {
  const flag = fc.boolean()
  const anyPerson = fc.record({
    ids: fc.array(fc.constantFrom(GUS, 'U0ADA00001', 'W0LIN00001', ''), { minLength: 1, maxLength: 2 }),
    isGuest: flag,
    isOutsider: flag,
    isDeactivated: flag,
    isBot: flag,
    isAdmin: flag,
  })
  const ids = fc.array(fc.constantFrom(GUS, 'U0ADA00001', OPS_GROUP, 'S0ANOTHER1'), { maxLength: 3 })
  const anyGrants = fc.record({ operators: ids, approvers: ids, admins: ids })

  it('a bot or a person who left may do nothing', () => {
    const rights = fc.constantFrom<Right>('read', 'subscribe', 'operate', 'administer')
    fc.assert(
      fc.property(rights, anyPerson, anyGrants, ids, (right, who, grants, groups) => {
        if (who.isBot || who.isDeactivated) expect(permit(right, who, grants, groups).kind).toBe('no')
      }),
    )
  })

  it('by default, each right includes the smaller ones', () => {
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
