import { useLayoutEffect } from 'preact/hooks'
import { recall } from '../store/memory.ts'

export type Theme = 'system' | 'light' | 'dark'

const THEMES: readonly unknown[] = ['system', 'light', 'dark']
const isTheme = (value: unknown): value is Theme => THEMES.includes(value)

/** The theme that was chosen in this browser. */
export const recallTheme = (): Theme => recall('theme', isTheme, 'system')

/** Sets light or dark, by the chosen theme or the machine's setting. */
export function useColours(theme: Theme): void {
  useLayoutEffect(() => {
    const machine = matchMedia('(prefers-color-scheme: dark)')
    const apply = () => {
      const isDark = theme === 'system' ? machine.matches : theme === 'dark'
      document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
    }
    apply()
    machine.addEventListener('change', apply)
    return () => machine.removeEventListener('change', apply)
  }, [theme])
}
