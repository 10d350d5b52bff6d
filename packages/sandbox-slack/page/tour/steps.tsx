import type { ComponentChildren } from 'preact'
import type { PanelService, PanelState } from '../../src/panel-state.ts'
import { headingOf } from '../ci/builds.tsx'
import type { State } from '../store/state.ts'
import type { Message } from '../store/wire.ts'

/** The data that a step checks to find out whether it was done. */
export interface Sight {
  panel: PanelState
  slack: State
  /** when the step began (ms, the sandbox's time) */
  at: number
}

export interface Step {
  title: string
  /** what to do */
  Text: (props: { service: PanelService }) => ComponentChildren
  /** what the person has seen when the step is done */
  seen: string | ((service: PanelService) => string)
  isDone: (sight: Sight) => boolean
  /** whether it offers to start a storm */
  isStorm?: true
}

const BUILDS = 'C0BUILDS01'
const ADA = 'U0ADA00001'
const WEB = 'acme/web'

/** The steps. Each notices by itself that it was done. */
export const STEPS: readonly Step[] = [
  {
    title: 'Say who you are',
    Text: () => (
      <>
        As Ada (top right), in <b>#builds</b>, type <kbd>/ci me Ada</kbd> and press Enter. Slack does not know the names
        in commits; this tells the bot that the committer Ada is you. After the scenario it knows already, and says so.
      </>
    ),
    seen: 'Only you saw the answer. From now on, the bot mentions you when a build of Ada fails.',
    isDone: ({ slack, at }) =>
      since(slack, at).some(({ onlyFor, text = '' }) => onlyFor === ADA && /committer names?\*: .*\bada\b/i.test(text)),
  },
  {
    title: 'Push a commit',
    Text: ({ service: { one } }) => (
      <>
        Open <b>CI</b> at the top. Push a commit to <b>acme/web</b>, by Ada, whose {one} runs until you end it.
      </>
    ),
    seen: 'CI told the bot, and #builds has a card: project, branch, commit, committer, and a Stop button.',
    isDone: ({ slack, panel, at }) =>
      newBuilds(panel, at).some(({ project, id }) => cardsOf(slack, `${project} #${id}`).length > 0),
  },
  {
    title: 'Break it',
    Text: ({ service }) => (
      <>
        In CI, under {headingOf(service)}, press <b>Fail it</b>.
      </>
    ),
    seen: 'The same card turned red, and a reply in its thread mentions Ada. An edited message alone notifies nobody.',
    isDone: ({ slack, at }) =>
      since(slack, at).some(({ text = '' }) => text.includes('*Failed*') && text.includes(`<@${ADA}>`)),
  },
  {
    title: 'Say that you are on it',
    Text: () => (
      <>
        On the red card in <b>#builds</b> press <b>I'm on it</b>, choose for how long, and press <b>Save</b>.
      </>
    ),
    seen: 'The card and its thread say so, and until when. The form also hands it over, or lets it go.',
    isDone: ({ slack, at }) => since(slack, at).some(({ text = '' }) => text.includes(`<@${ADA}> is on it`)),
  },
  {
    title: 'Fix it from Slack',
    Text: () => (
      <>
        On the red card in <b>#builds</b> press <b>Restart</b>, and wait some seconds.
      </>
    ),
    seen: 'CI got one request, the thread says who asked, and the card says that attempt 2 passed.',
    isDone: ({ slack, at }) => since(slack, at).some(({ text = '' }) => text.includes('(flaky)')),
  },
  {
    title: 'Pull the plug in a storm',
    Text: () => (
      <>
        Start a storm here, then open <b>Break it</b> at the top and press <b>Pull the plug</b>: a real SIGKILL, in the
        middle of everything.
      </>
    ),
    seen: ({ pulled }) => `The bot is gone. ${pulled}`,
    isStorm: true,
    isDone: ({ panel }) =>
      panel.watched.bot.state === 'unplugged' && panel.builds.some(({ branch }) => branch.startsWith('storm-')),
  },
  {
    title: 'Start it again',
    Text: () => (
      <>
        Press <b>Start it again</b>, and watch the line at the bottom until nothing is waiting any more.
      </>
    ),
    seen: 'lost 0 · doubled 0: counted from what CI sent and what Slack shows.',
    isDone: ({ panel: { watched } }) => {
      const { standing, bot, queue } = watched
      const isIdle = queue !== null && queue.ingest + queue.post + queue.edit + queue.look === 0
      const left = standing.onTheWay + standing.notTaken + standing.lost.length + standing.doubled.length
      return isIdle && bot.state === 'running' && bot.starts > 1 && standing.right > 0 && left === 0
    },
  },
  {
    title: 'Ask why',
    Text: () => (
      <>
        In <b>#builds</b> type <kbd>/ci why</kbd>: each rule, each condition, and what was posted.
      </>
    ),
    seen: 'Every decision has a reason that is kept, yes or no.',
    isDone: ({ slack, at }) =>
      since(slack, at).some(
        ({ onlyFor, text = '' }) => onlyFor !== undefined && /\*(?:posted|not posted|card updated)\*/.test(text),
      ),
  },
  {
    title: 'Subscribe a channel, and take it home',
    Text: ({ service: { own, key } }) => (
      <>
        In <b>#ops</b> type <kbd>/ci subscribe acme/api failed,recovered</kbd>. Then try it with a Slack and {own} of
        your own: make the app from <code>manifest.yml</code>, put its tokens and {key} into <code>.env</code>, and{' '}
        <code>npm start</code>. The README has each step.
      </>
    ),
    seen: '#ops now gets a message when acme/api fails and when it is fixed, and nothing else. That was the tour.',
    isDone: ({ slack, at }) => since(slack, at).some(({ text = '' }) => /subscribed this channel/.test(text)),
  },
]

const all = ({ messages }: State): Message[] => [...messages.values()].flatMap((own) => [...own.values()])

/** The messages that were posted or edited since then. */
const since = (slack: State, at: number): Message[] =>
  all(slack).filter(({ ts, edited }) => Number(edited?.ts ?? ts) * 1_000 >= at)

const newBuilds = ({ builds }: PanelState, at: number) =>
  builds.filter(({ project, startedAt }) => isOfWeb(project) && startedAt !== null && startedAt >= at)

// A service may add the workflow to the project's name: `acme/web CI`.
const isOfWeb = (project: string): boolean => project === WEB || project.startsWith(`${WEB} `)

const cardsOf = ({ messages }: State, name: string): Message[] =>
  [...(messages.get(BUILDS)?.values() ?? [])].filter(({ root, text = '' }) => root === null && text.includes(name))
