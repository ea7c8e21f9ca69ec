/** Keys that act on every page. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { setLetters, useKeys } from '../ui/keyboard.ts'
import { PLACES } from './navigation.ts'
import { useWayTo } from './scope.tsx'
import { remember, remembered } from './stored.ts'

function lettersAreOn(): boolean {
  return remembered('letters') !== 'off'
}

/** Whether letters act, and the switch for it. */
export function useLetters(): readonly [areOn: boolean, change: (areOn: boolean) => void] {
  const [areOn, setOn] = useState(lettersAreOn)
  return [
    areOn,
    (next) => {
      remember('letters', next ? null : 'off')
      setLetters(next)
      setOn(next)
    },
  ]
}

export function useGlobalKeys({
  openPalette,
  openList,
}: {
  readonly openPalette: () => void
  readonly openList: () => void
}): void {
  const navigate = useNavigate()
  const wayTo = useWayTo()
  const places = Object.fromEntries(PLACES.map(({ key, to }) => [`g ${key}`, () => void navigate(wayTo(to))]))
  useKeys({
    ...places,
    'mod+k': openPalette,
    '?': openList,
    '/': () => focusFirst('[data-page-search]'),
    f: () => clickFirst('[data-filter-menu], [data-filter]'),
    x: () => clickFirst('[data-clear-filters]'),
    l: () => clickFirst('[data-live]'),
    c: () => clickFirst('[data-copy-id] button, button[data-copy-id]'),
  })
}

function first(selector: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`#app main :is(${selector})`)
}

function focusFirst(selector: string): boolean {
  const found = first(selector)
  found?.focus()
  return found !== null
}

function clickFirst(selector: string): boolean {
  const found = first(selector)
  found?.click()
  return found !== null
}
