import { useLayoutEffect } from 'preact/hooks'
import { useSlack } from '../store/workspace.tsx'

/** Light or dark, as the person chose, or as the machine is set. */
export function useTheme(): void {
  const theme = useSlack((state) => state.theme)
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
