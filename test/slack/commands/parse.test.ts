import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  readLetters,
  CUT,
  parseLine,
  parseMention,
  parseTyped,
  parseName,
  parseWords,
  COMMAND_CHARS_MAX,
  WORDS_MAX,
} from '../../../src/slack/commands/parse.ts'
import { anyText } from '../../support/any-text.ts'

const texts = (typed: string): string[] => parseWords(typed).map(({ text }) => text)

/** The text as Slack escapes it. */
const escaped = (typed: string): string =>
  typed.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

describe('words', () => {
  it.each<[typed: string, words: string[]]>([
    ['', []],
    [' \t\n ', []],
    ['stop acme/web main', ['stop', 'acme/web', 'main']],
    ['  stop \n acme/web\tmain ', ['stop', 'acme/web', 'main']],
    ['stop\u00a0acme/web\u3000main', ['stop', 'acme/web', 'main']],
    ['подписать acme/web на ветку', ['подписать', 'acme/web', 'на', 'ветку']],
  ])('of %j are separated by white space', (typed, words) => {
    expect(texts(typed)).toEqual(words)
  })

  it.each<[typed: string, words: string[]]>([
    ['stop "acme web" main', ['stop', 'acme web', 'main']],
    ['stop “acme web” main', ['stop', 'acme web', 'main']],
    ['stop „acme web“ main', ['stop', 'acme web', 'main']],
    ['stop „acme web” main', ['stop', 'acme web', 'main']],
    ['stop «acme web» main', ['stop', 'acme web', 'main']],
    ['stop »acme web« main', ['stop', 'acme web', 'main']],
    ['stop ‘acme web’ main', ['stop', 'acme web', 'main']],
    [`stop 'acme web' main`, ['stop', 'acme web', 'main']],
    ['stop “acme web" main', ['stop', 'acme web', 'main']],
    ['“acme web”@main', ['acme web@main']],
    ['‘ada’s web’ main', ["ada's web", 'main']],
    ['" acme  web "', ['acme web']],
    ['web "" main', ['web', '', 'main']],
    ['web “ ” main', ['web', '', 'main']],
    [`web ''`, ['web', '']],
  ])('%j: quotes of all kinds group words', (typed, words) => {
    expect(texts(typed)).toEqual(words)
  })

  it.each<[typed: string, words: string[]]>([
    [`don't stop`, [`don't`, 'stop']],
    ['o’brien/web', ["o'brien/web"]],
    ['’tis Ada’s', ["'tis", "Ada's"]],
    ['5" disk', ['5"', 'disk']],
    ['"acme web', ['acme', 'web']],
    ['“', []],
  ])('%j: an apostrophe or a single quote groups nothing', (typed, words) => {
    expect(texts(typed)).toEqual(words)
  })

  it.each<[typed: string, words: string[]]>([
    ['`main`', ['main']],
    ['`acme/web@main` now', ['acme/web@main', 'now']],
    ['```stop acme/web```', ['stop', 'acme/web']],
    ['`"acme web"`', ['acme web']],
    ['``', []],
  ])('%j: backticks around a word are removed', (typed, words) => {
    expect(texts(typed)).toEqual(words)
  })

  it('keep a backtick inside a word', () => {
    expect(texts('a`b `main`')).toEqual(['a`b', 'main'])
  })

  it.each<[typed: string, words: string[]]>([
    ['"main," “_main_” \'(main)\'', ['main,', '_main_', '(main)']],
    ['"main", *"main,"* main,', ['main', 'main', 'main']],
  ])('%j: quotes around a whole word keep its marks', (typed, words) => {
    expect(texts(typed)).toEqual(words)
    expect(texts(typed)[0]).toBe(parseName(typed.split(' ')[0]!))
  })

  it('have hyphens restored from dashes', () => {
    expect(texts('—same fix—login “fix—login” a–b a‐b−c')).toEqual([
      '--same',
      'fix--login',
      'fix--login',
      'a-b',
      'a-b-c',
    ])
  })
})

describe('the text that Slack sends', () => {
  it.each<[sent: string, text: string]>([
    ['<http://acme.web|acme.web>', 'acme.web'],
    ['<http://acme.io/web@main|acme.io/web@main>', 'acme.io/web@main'],
    ['<http://acme.io|acme.io>/web@main', 'acme.io/web@main'],
    ['release/<http://v1.io|v1.io>', 'release/v1.io'],
    ['<mailto:web@main.io|web@main.io>', 'web@main.io'],
    ['<mailto:web@main.io>', 'web@main.io'],
    ['<tel:5550100|5550100>', '5550100'],
    ['fix&lt;b&gt;&amp;c', 'fix<b>&c'],
    ['&amp;lt;x', '&lt;x'],
    ['&amp;amp;x', '&amp;x'],
    ['&quot;x', '&quot;x'],
    ['a<b', 'a<b'],
    ['a>b', 'a>b'],
    ['<!here>', '@here'],
    ['<!date^1700000000^{date}|yesterday>', 'yesterday'],
  ])('%j was typed as %j', (sent, text) => {
    expect(texts(sent)).toEqual([text])
  })

  it('gives the id or address of a word that is exactly one reference', () => {
    expect(parseWords('<https://ci.example/builds/1?a=1&amp;b=2>')).toEqual([
      { text: 'https://ci.example/builds/1?a=1&b=2', url: 'https://ci.example/builds/1?a=1&b=2' },
    ])
    expect(parseWords('<http://acme.web|acme.web>')).toEqual([{ text: 'acme.web', url: 'http://acme.web' }])
    expect(parseWords('<#C0123ABC|builds> <#C0123ABC> <#C0123ABC|>')).toEqual([
      { text: '#builds', channelId: 'C0123ABC' },
      { text: '#C0123ABC', channelId: 'C0123ABC' },
      { text: '#C0123ABC', channelId: 'C0123ABC' },
    ])
    expect(parseWords('<@U0ADA|ada> <@U0ADA>')).toEqual([
      { text: '@ada', userId: 'U0ADA' },
      { text: '@U0ADA', userId: 'U0ADA' },
    ])
    expect(parseWords('<!subteam^S0OPS|@ops> <!subteam^S0OPS>')).toEqual([
      { text: '@ops', groupId: 'S0OPS' },
      { text: '@S0OPS', groupId: 'S0OPS' },
    ])
    expect(parseWords('"<#C0123ABC|builds>"')).toEqual([{ text: '#builds', channelId: 'C0123ABC' }])
  })

  it('gives no id for a word with more than one reference, or with an invalid one', () => {
    expect(parseWords('<@U0ADA|ada><@U0LIN|lin>')).toEqual([{ text: '@ada@lin' }])
    expect(parseWords('<#builds|builds> <@ada|ada> <!subteam^ops|@ops>')).toEqual([
      { text: '#builds' },
      { text: '@ada' },
      { text: '@ops' },
    ])
    expect(parseWords('<!here^S0OPS|@ops>')).toEqual([{ text: '@ops' }])
    expect(parseWords('<javascript:alert|click>')).toEqual([{ text: 'click' }])
  })

  it('gives a label as one word, whatever it contains', () => {
    expect(parseWords('stop <https://ci.example/builds/1|"build" 1 — `web`>')).toEqual([
      { text: 'stop' },
      { text: '"build" 1 — `web`', url: 'https://ci.example/builds/1' },
    ])
  })

  it('gives no reference for brackets that were typed', () => {
    expect(parseWords(escaped('<@U0ADA|ada> <#C0123ABC>'))).toEqual([
      { text: '@U0ADA|ada', typed: '<@U0ADA|ada>' },
      { text: '#C0123ABC', typed: '<#C0123ABC>' },
    ])
  })
})

describe('what Slack, phones and habits add', () => {
  it.each<[typed: string, words: string[]]>([
    ['*status*', ['status']],
    ['why #601.', ['why', '#601']],
    ['restart (#601)', ['restart', '#601']],
    ['restart (acme/web #601)!', ['restart', 'acme/web', '#601']],
    ['why ＃６０１', ['why', '#601']],
    ['stop _acme/web_ ~main~, “release–1”…', ['stop', 'acme/web', 'main', 'release-1']],
    ['stop *“acme web”*', ['stop', 'acme web']],
    ['me “Lin O’Neil”', ['me', "Lin O'Neil"]],
    ['me lin.', ['me', 'lin']],
    ['stop 【main】、', ['stop', 'main']],
  ])('%j is taken off', (typed, words) => {
    expect(texts(typed)).toEqual(words)
  })

  it.each(['release/*', '*', '*/fix', '^v[0-9]+$', '/^(a|b)/', 'x[bot]', 'fix(login)', '@*fix*', '.', '5"', '#512'])(
    'is nothing of %s',
    (typed) => {
      expect(parseWords(typed)).toEqual([{ text: typed }])
    },
  )

  it.each(['*stop acme/web*', '_*stop acme/web*_.', '"stop acme/web"', '(stop acme/web)', '`stop acme/web`'])(
    'is taken off a whole line: %s',
    (typed) => {
      expect(parseLine(typed).map(({ text }) => text)).toEqual(['stop', 'acme/web'])
    },
  )

  it.each([
    ['*stop* release/*', ['stop', 'release/*']],
    ['"acme web" "my main"', ['acme web', 'my main']],
  ])('is not taken off a line that has several: %s', (typed, words) => {
    expect(parseLine(typed).map(({ text }) => text)).toEqual(words)
  })

  it.each([
    '<@U0BOT> why #601',
    '*<@U0BOT> why #601*',
    '*<@U0BOT>* why #601',
    '(<@U0BOT> why #601)',
    '<@U0BOT>: *why #601*',
    '<@U0BOT|buildline>, why #601?',
    '(hello <@U0BOT>) why #601',
    'hi *<@U0BOT>* `why #601`',
  ])('is taken off what follows a mention: %s', (typed) => {
    expect(parseMention(typed, (user) => user === 'U0BOT').map(({ text }) => text)).toEqual(['why', '#601'])
  })

  it('stays beside the word as it was typed', () => {
    expect(parseWords('*main* main, main')).toEqual([
      { text: 'main', typed: '*main*' },
      { text: 'main', typed: 'main,' },
      { text: 'main' },
    ])
  })
})

describe('invisible characters', () => {
  it.each<[what: string, typed: string]>([
    ['zero-width spaces', 'acme\u200b/web'],
    ['byte order marks', '\ufeffacme/web'],
    ['marks of direction', '\u202eacme\u202c/web\u200f'],
    ['control characters', 'acme\u0000\u0007/web\u009f'],
    ['joiners among Latin letters', 'acme\u200d/\u200c\u200dweb\u200d'],
    ['lone surrogates', 'acme\ud800/web'],
    ['what a card inserts to disarm a name', '\u2068acme\u00ad/web\u2069'],
  ])('are removed: %s', (_, typed) => {
    expect(texts(typed)).toEqual(['acme/web'])
  })

  it('stay if they matter: joiners in a script or an emoji', () => {
    expect(texts('می\u200cخواهم fix/👩\u200d💻 café')).toEqual(['می\u200cخواهم', 'fix/👩\u200d💻', 'café'])
  })
})

describe('the limits of parsing', () => {
  it('allow a text of exactly the maximum length, and drop a word beyond it', () => {
    const full = `${'a '.repeat(10)}${'b'.repeat(COMMAND_CHARS_MAX - 20)}`
    expect(texts(full).at(-1)).toBe('b'.repeat(COMMAND_CHARS_MAX - 20))
    expect(texts(`${full} c`).at(-1)).toBe('b'.repeat(COMMAND_CHARS_MAX - 20))
    expect(texts(`${full}b`)).toEqual(Array.from({ length: 10 }, () => 'a'))
    expect(texts('x'.repeat(COMMAND_CHARS_MAX + 1))).toEqual([])
  })

  it('allow a maximum number of words', () => {
    const words = Array.from({ length: WORDS_MAX + 1 }, (_, at) => `w${at}`)
    expect(texts(words.slice(0, -1).join(' '))).toEqual(words.slice(0, -1))
    expect(texts(words.join(' '))).toEqual(words.slice(0, -1))
  })

  it('add the mark of a cut text only if something was dropped', () => {
    const isCut = (typed: string) => parseTyped(typed).at(-1) === CUT
    expect([isCut('x'.repeat(COMMAND_CHARS_MAX)), isCut('x'.repeat(COMMAND_CHARS_MAX + 1))]).toEqual([false, true])
    expect([isCut('w '.repeat(WORDS_MAX - 1)), isCut('w '.repeat(WORDS_MAX))]).toEqual([false, true])
    expect(isCut('stop …')).toBe(false)
  })

  // With quadratic work, these would not end within a test's timeout.
  it.each(['<', '<a', '&', '&amp;', '<|>', '\u200d', '\u00ad'])(
    '%j a million times over is read in linear time',
    (junk) => {
      const once = readLetters(junk).length
      const many = readLetters(junk.repeat(1_000_000)).length
      expect(many).toBe(once * 1_000_000)
    },
  )

  it.each([`'`, '"', `'a `, '“a ', '`', '<', '<@', '&amp;', `" ' `])(
    'make 10 KB of %j no more work than the text that is read',
    (junk) => {
      const typed = junk.repeat(10_000 / junk.length)
      const read = typed.slice(0, COMMAND_CHARS_MAX)
      expect(texts(typed)).toEqual(texts(read.slice(0, /\s\S*$/.exec(read)?.index ?? 0)))
    },
  )
})

describe('parsing of any text', () => {
  const junk = fc.oneof(
    anyText({ maxLength: 200 }),
    fc
      .array(
        fc.constantFrom(
          ...'"“”„«»\'‘’`—<>|@#!&;a b\u200d\u00a0'.split(''),
          '<@U0ADA|ada>',
          '&lt;',
          '<http://a.io|a.io>',
        ),
      )
      .map((parts) => parts.join('')),
  )
  const word = fc.stringMatching(/^[a-zа-я0-9](?:[a-zа-я0-9/_.@#*&<>-]{0,20}[a-zа-я0-9*@#])?$/)

  it('gives few words, without white space at their ends or control characters', () => {
    fc.assert(
      fc.property(junk, (typed) => {
        const found = texts(typed)
        expect(found.length).toBeLessThanOrEqual(WORDS_MAX)
        for (const text of found) expect(text).toMatch(/^(?:\S(?:[^\p{Cc}\u202e\u200b]*\S)?)?$/u)
      }),
    )
  })

  it('gives an empty word only for empty quotes or links', () => {
    fc.assert(
      fc.property(junk, (typed) => {
        expect(texts(typed.replaceAll(/["“”„‟«»'‘’‚‛<]/gu, ''))).not.toContain('')
      }),
    )
  })

  it('gives plain words unchanged, and again when they are parsed again', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 10 }), (words) => {
        expect(texts(escaped(words.join(' ')))).toEqual(words)
        expect(texts(escaped(texts(escaped(words.join('\n'))).join(' ')))).toEqual(words)
      }),
    )
  })

  it('gives plain words in quotes as one word', () => {
    const quotes = fc.constantFrom('""', '“”', '„“', '«»', '‘’', "''")
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), quotes, (words, pair) => {
        expect(texts(escaped(`${pair[0]}${words.join(' ')}${pair[1]} x`))).toEqual([words.join(' '), 'x'])
      }),
    )
  })
})
