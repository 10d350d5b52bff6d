import { describe, expect, it } from 'vitest'
import { readGithubList, REPOSITORIES_MAX } from '../../../src/features/subscriptions/github-list.ts'

const ANY = { names: [], events: [], branches: [], actors: [] }

const namesIn = (text: string): string[] => readGithubList(text).repositories.map(({ name }) => name)

describe("the list of GitHub's Slack app", () => {
  it.each<[form: string, text: string]>([
    ['one on each line', 'acme/web\nacme/api'],
    ['links, as Slack sends them', '<https://github.com/acme/web|acme/web>\n<https://github.com/acme/api|acme/api>'],
    ['addresses', 'https://github.com/acme/web\nhttps://github.example/acme/api.git'],
    ['addresses of pages', 'https://github.com/acme/web/actions https://github.com/acme/api/'],
    ['with bullets', '• acme/web\n- `acme/api`'],
    ['with numbers', '1. *acme/web*,\n2. acme/api.'],
    ['below a headline', '<#C0123ABC|builds> is subscribed to\nacme/web\nacme/api\nLearn More'],
    ['as the commands that made it', '/github subscribe acme/web\n/github subscribe acme/api'],
    ['one of them twice', 'acme/web\nacme/api\nACME/web'],
  ])('gives its repositories: %s', (_, text) => {
    expect(namesIn(text)).toEqual(['acme/web', 'acme/api'])
  })

  it.each<[text: string, features: readonly string[], workflows: readonly object[]]>([
    ['acme/web', [], []],
    ['acme/web - issues, pulls', ['issues', 'pulls'], []],
    ['acme/web: issues, pulls, workflows', ['issues', 'pulls'], [ANY]],
    ['This channel will get notifications from acme/web for:\n`issues`, `commits:*`', ['issues', 'commits'], []],
    ['acme/web comments:"channel" +label:teams/designers', ['comments', 'label'], []],
    ['acme/web workflows:{}', [], [ANY]],
    [
      'acme/web workflows:{event:"pull_request","push" branch:"main","dev"} pulls',
      ['pulls'],
      [{ ...ANY, events: ['pull_request', 'push'], branches: ['main', 'dev'] }],
    ],
    [
      'acme/web - workflows: {name: “Deploy to prod” event: "push", "workflow_dispatch" branch: main, f/* actor:"ada"}',
      [],
      [
        {
          names: ['Deploy to prod'],
          events: ['push', 'workflow_dispatch'],
          branches: ['main', 'f/*'],
          actors: ['ada'],
        },
      ],
    ],
    ['acme/web workflows:{name:"branch: x" else:"y"}', [], [{ ...ANY, names: ['branch: x'] }]],
    ['acme/web workflows:{branch:"main"', [], [{ ...ANY, branches: ['main'] }]],
  ])('gives the features of a repository: %s', (text, features, workflows) => {
    expect(readGithubList(text)).toEqual({
      repositories: [{ name: 'acme/web', features, workflows }],
      more: 0,
      accounts: [],
    })
  })

  it('is read on after a filter without an end', () => {
    expect(namesIn('acme/web workflows:{branch:"main"\nacme/api')).toEqual(['acme/web', 'acme/api'])
  })

  it('gives accounts that stand alone on their lines, but not features or the app', () => {
    expect(readGithubList('GitHub\nAPP\nacme/web\nissues\n<https://github.com/acme|acme>').accounts).toEqual(['acme'])
  })

  it.each(['', 'our repositories', 'a/b/c', '/github subscribe', 'issues, pulls', '<!channel>', '//', 'acme/'])(
    'is not %j',
    (text) => {
      expect(namesIn(text)).toEqual([])
    },
  )

  it(`is read up to ${REPOSITORIES_MAX} repositories, and the others are counted`, () => {
    const of = (count: number) => readGithubList(Array.from({ length: count }, (_, n) => `acme/web${n}`).join('\n'))
    expect(of(REPOSITORIES_MAX)).toMatchObject({ more: 0 })
    const { repositories, more } = of(REPOSITORIES_MAX + 1)
    expect([repositories.length, more]).toEqual([REPOSITORIES_MAX, 1])
  })
})
