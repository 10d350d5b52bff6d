import { describe, expect, test } from 'vitest'
import { commandToOpen } from '../src/demo/open-address.ts'
import type { Surroundings } from '../src/demo/open-address.ts'

const URL = 'http://127.0.0.1:4100/'
const desk: Surroundings = { platform: 'linux', env: { DISPLAY: ':0' }, isTerminal: true }

describe('the address of the page', () => {
  test.each<[string, Surroundings, [string, string[]]]>([
    ['Linux', desk, ['xdg-open', [URL]]],
    ['Wayland', { ...desk, env: { WAYLAND_DISPLAY: 'wayland-0' } }, ['xdg-open', [URL]]],
    ['a Mac', { ...desk, platform: 'darwin', env: {} }, ['open', [URL]]],
    ['Windows', { ...desk, platform: 'win32', env: {} }, ['cmd', ['/c', 'start', '', URL]]],
    ['a desk where CI is said to be off', { ...desk, env: { DISPLAY: ':0', CI: 'false' } }, ['xdg-open', [URL]]],
  ])('is opened on %s', (_where, surroundings, command) => {
    expect(commandToOpen(URL, surroundings)).toEqual(command)
  })

  test.each<[string, Surroundings]>([
    ['in CI', { ...desk, env: { DISPLAY: ':0', CI: 'true' } }],
    ['without a display', { ...desk, env: {} }],
    ['with an empty display', { ...desk, env: { DISPLAY: '' } }],
    ['where its words go into a file', { ...desk, isTerminal: false }],
    ['where its words go into a file on a Mac', { ...desk, platform: 'darwin', env: {}, isTerminal: false }],
  ])('is not opened %s', (_where, surroundings) => {
    expect(commandToOpen(URL, surroundings)).toBeNull()
  })
})
