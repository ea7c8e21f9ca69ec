/** Menus, lists of choices and the palette look the same. */
export const MENU =
  'appearing max-h-[min(360px,var(--available-height))] min-w-[max(160px,var(--anchor-width))] overflow-y-auto rounded-panel border border-line bg-raised p-1 text-13 text-ink shadow-menu outline-none'
export const MENU_ITEM =
  'flex min-h-7 w-full cursor-default items-center gap-2 rounded-chip px-2 py-1 text-left outline-none select-none data-highlighted:bg-hover data-disabled:text-ink-3 coarse:min-h-10'
