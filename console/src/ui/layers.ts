/** Where floating parts are put. Their order in the body decides what lies above what. */
export type Layer = 'peeks' | 'dialogs' | 'menus' | 'toasts'

export function layer(name: Layer): HTMLElement | null {
  return document.querySelector<HTMLElement>(`#${name}`)
}
