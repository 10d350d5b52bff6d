import '../panel/panel.css'
import './ci.css'
import { Absent } from '../panel/absent.tsx'
import { usePanel } from '../panel/panel-store.ts'
import { Builds } from './builds.tsx'
import { Deliveries } from './deliveries.tsx'
import { Push } from './push.tsx'
import { Rules } from './rules.tsx'

/** The other side: a CI service that does what one tells it to. */
export function CiPanel() {
  const isThere = usePanel(() => true)
  if (isThere === null) return <Absent />
  return (
    <>
      <Scene />
      <Push />
      <Builds />
      <Deliveries />
      <Rules />
    </>
  )
}

/** What happens by itself, so that nobody wonders whose builds these are. */
function Scene() {
  const scene = usePanel((state) => state.scene)
  if (scene === null) return null
  return (
    <p class="ci-scene">
      Playing by itself, {scene.n} of {scene.of}: {scene.title}
    </p>
  )
}
