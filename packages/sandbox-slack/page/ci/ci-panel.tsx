import '../panel/panel.css'
import './ci.css'
import { usePanel } from '../panel/panel-store.ts'
import { Builds } from './builds.tsx'
import { Deliveries } from './deliveries.tsx'
import { Push } from './push.tsx'
import { Rules } from './rules.tsx'

/** The panel that controls the CI service. */
export const CiPanel = () => (
  <>
    <Scene />
    <Push />
    <Builds />
    <Deliveries />
    <Rules />
  </>
)

/** The scene that is playing, so that people know where its builds come from. */
function Scene() {
  const scene = usePanel((state) => state.scene)
  if (scene === null) return null
  return (
    <p class="ci-scene">
      Playing by itself, {scene.n} of {scene.of}: {scene.title}
    </p>
  )
}
