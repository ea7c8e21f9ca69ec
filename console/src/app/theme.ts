/** Light, dark, or as the system has it. `public/theme.js` does the same before the first paint. */
import { useSyncExternalStore } from 'react'
import { remember, remembered } from './stored.ts'

export type ThemeChoice = 'light' | 'dark' | 'system'
export type Theme = 'light' | 'dark'

const listeners = new Set<() => void>()

function themeChoice(): ThemeChoice {
  const kept = remembered('theme')
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

export function chooseTheme(choice: ThemeChoice): void {
  remember('theme', choice === 'system' ? null : choice)
  apply()
}

/** The theme in force. Pictures on a canvas are drawn anew when it changes. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, inForce)
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribe, themeChoice)
}

/** Follows the system from now on. */
export function watchSystemTheme(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply)
}

function inForce(): Theme {
  return document.documentElement.dataset['theme'] === 'dark' ? 'dark' : 'light'
}

function apply(): void {
  const choice = themeChoice()
  const isDark =
    choice === 'dark' || (choice === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
