import type { Action } from '../../domain/request.ts'
import type { BuildView, CardView } from '../../domain/view.ts'
import { escapePlain, toLine } from '../../lib/escape.ts'
import { plain, type ActionButton } from './blocks.ts'
import { ACTION_IDS } from './ids.ts'
import { BRANCH_CHARS_MAX, BUILD_ID_CHARS_MAX, CONFIRM_CHARS_MAX, cut, PROJECT_CHARS_MAX } from './limits.ts'

/** The button that asks CI to stop or restart a run. Stopping throws work away, so it is confirmed first. */
export function actButton(
  action: Action,
  ref: string,
  build: Pick<BuildView, 'project' | 'buildId' | 'branch'> & Pick<CardView, 'unconfirmed'>,
): ActionButton {
  const common = { type: 'button', action_id: ACTION_IDS[action], value: ref } as const
  if (action === 'restart') return { ...common, text: plain('Restart') }
  return {
    ...common,
    text: plain('Stop'),
    style: 'danger',
    confirm: {
      title: plain('Stop this build?'),
      text: plain(
        cut(`${nameOf(build)} stops where it is. What it has done so far is lost.${uuidOf(build)}`, CONFIRM_CHARS_MAX),
      ),
      confirm: plain('Stop it'),
      deny: plain('Let it run'),
      style: 'danger',
    },
  }
}

function nameOf({ project, buildId, branch }: Pick<BuildView, 'project' | 'buildId' | 'branch'>): string {
  const on = branch === null ? '' : ` on ${shown(branch, BRANCH_CHARS_MAX)}`
  return `${shown(project, PROJECT_CHARS_MAX)} #${shown(buildId, BUILD_ID_CHARS_MAX)}${on}`
}

/** CI shows no builds of this project: the person alone can tell whether that is the build they mean. */
const uuidOf = ({ unconfirmed }: Pick<CardView, 'unconfirmed'>): string =>
  unconfirmed === null ? '' : ` CI stops the build ${unconfirmed}.`

const shown = (text: string, charsMax: number): string => escapePlain(cut(toLine(text), charsMax))
