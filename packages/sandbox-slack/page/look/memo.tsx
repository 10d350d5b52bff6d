import { Component } from 'preact'
import type { ComponentType } from 'preact'

/** Wraps a component so that it is redrawn only if one of its properties changes. */
export function memo<Props extends object>(Drawn: ComponentType<Props>): ComponentType<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const [before, after] = [Object.entries(this.props), Object.entries(next)]
      const known = new Map<string, unknown>(before)
      return before.length !== after.length || after.some(([name, value]) => !Object.is(known.get(name), value))
    }

    override render(props: Props) {
      return <Drawn {...props} />
    }
  }
}
