/** Where floating parts are put. Their order in the body decides what lies above what. */
import { createContext, useContext } from 'react'

export type Layer = 'peeks' | 'dialogs' | 'menus' | 'toasts'

export function layer(name: Layer): HTMLElement | null {
  return document.querySelector<HTMLElement>(`#${name}`)
}

/** Inside of a dialog. */
export const InDialog = createContext(false)

/**
 * Where a list that opens goes. A dialog hides all layers that were there before it from screen readers, also the one of the
 * menus: a list that opens inside of it goes beside it.
 */
export function usePopupLayer(): HTMLElement | null {
  return layer(useContext(InDialog) ? 'dialogs' : 'menus')
}
