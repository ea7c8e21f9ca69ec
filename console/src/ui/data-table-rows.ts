/** Which rows of the table are drawn, and how the keyboard walks over them. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useState, type RefObject } from 'react'
import type { Group } from './data-table-column.ts'
import { useKeys } from './keyboard.ts'

const VIRTUAL_FROM = 60
export const GROUP_HEIGHT = 36
/** Rows beyond the visible ones, so that a quick wheel shows no gap. */
export const OVERSCAN = 6

export type Item<Row> = { readonly row: Row; readonly index: number } | { readonly group: Group }

export function useItems<Row>(
  rows: readonly Row[] | undefined,
  groupOf: ((row: Row) => Group) | undefined,
): readonly Item<Row>[] {
  return useMemo(() => {
    if (rows === undefined) return []
    if (groupOf === undefined) return rows.map((row, index) => ({ row, index }))
    const items: Item<Row>[] = []
    let before: string | undefined
    for (const [index, row] of rows.entries()) {
      const group = groupOf(row)
      if (group.key !== before) items.push({ group })
      before = group.key
      items.push({ row, index })
    }
    return items
  }, [rows, groupOf])
}

interface View {
  readonly indexes: readonly number[]
  /** Heights of what is not drawn. */
  readonly before: number
  readonly after: number
  readonly last: number
  readonly scrollTo: (index: number) => void
}

export function useRowsInView<Row>({
  items,
  rowHeight,
  region,
  fill,
}: {
  readonly items: readonly Item<Row>[]
  readonly rowHeight: number
  readonly region: RefObject<HTMLDivElement | null>
  readonly fill: boolean
}): View {
  const isVirtual = items.length > VIRTUAL_FROM
  const [margin, setMargin] = useState(0)
  useEffect(() => {
    const [own, outer] = [region.current, scrollingAround(region.current)]
    if (fill || !own || !outer) return
    setMargin(own.getBoundingClientRect().top - outer.getBoundingClientRect().top + outer.scrollTop)
  }, [fill, items.length, region])
  // oxlint-disable-next-line react/incompatible-library -- No compiler memoises this hook.
  const virtualizer = useVirtualizer({
    count: items.length,
    enabled: isVirtual,
    getScrollElement: () => (fill ? region.current : scrollingAround(region.current)),
    estimateSize: (index) => {
      const item = items[index]
      return item !== undefined && 'group' in item ? GROUP_HEIGHT : rowHeight
    },
    overscan: OVERSCAN,
    scrollMargin: fill ? 0 : margin,
  })
  const scrollTo = (index: number): void => {
    if (isVirtual) virtualizer.scrollToIndex(index, { align: 'auto' })
  }
  if (!isVirtual) {
    const indexes = items.map((_, index) => index)
    return { indexes, before: 0, after: 0, last: items.length - 1, scrollTo }
  }
  const inView = virtualizer.getVirtualItems()
  const [first, last] = [inView[0], inView.at(-1)]
  const offset = fill ? 0 : margin
  return {
    indexes: inView.map(({ index }) => index),
    before: first === undefined ? 0 : first.start - offset,
    after: last === undefined ? virtualizer.getTotalSize() : virtualizer.getTotalSize() - (last.end - offset),
    last: last?.index ?? 0,
    scrollTo,
  }
}

/** The nearest part of the page that scrolls: which one it is depends on the width of the screen. */
function scrollingAround(element: HTMLElement | null): HTMLElement | null {
  let around = element?.parentElement?.closest<HTMLElement>('[data-scroll]') ?? null
  while (around !== null && getComputedStyle(around).overflowY === 'visible')
    around = around.parentElement?.closest<HTMLElement>('[data-scroll]') ?? null
  return around
}

interface Walked<Row> {
  readonly href?: unknown
  readonly onPeek?: ((row: Row) => void) | undefined
  readonly selected?: string | undefined
  readonly rowKey: (row: Row) => string
}

/** `j` and `k` move the focus from row to row, also to rows that are not drawn yet. */
export function useWalk<Row>(
  { href, onPeek, selected, rowKey }: Walked<Row>,
  items: readonly Item<Row>[],
  scrollTo: (index: number) => void,
  region: RefObject<HTMLDivElement | null>,
): void {
  const focusRow = (at: number): void => {
    const drawn = (): HTMLElement | null | undefined =>
      region.current?.querySelector<HTMLElement>(`[data-at="${at}"] [data-row]`)
    const row = drawn()
    if (row) {
      // At once, so that the key that comes next already belongs to it.
      row.focus()
      return
    }
    scrollTo(at)
    requestAnimationFrame(() => requestAnimationFrame(() => drawn()?.focus()))
  }
  const walk = (step: 1 | -1): boolean => {
    // Rows that lead nowhere leave the keys to another table of the page.
    if (href === undefined) return false
    const focused = document.activeElement?.closest<HTMLElement>('[data-at]')
    const isOurs = focused && region.current?.contains(focused)
    const chosen = items.findIndex((item) => 'row' in item && rowKey(item.row) === selected)
    let at = isOurs ? Number(focused.dataset['at']) : chosen === -1 && step === 1 ? -1 : chosen
    do at += step
    while (items[at] !== undefined && !('row' in items[at]!))
    const item = items[at]
    if (item === undefined || !('row' in item)) return false
    focusRow(at)
    if (selected !== undefined) onPeek?.(item.row)
    return true
  }
  const arrow = (step: 1 | -1) => (): boolean => {
    const isInside = region.current?.contains(document.activeElement) === true
    return isInside && document.activeElement !== region.current ? walk(step) : false
  }
  useKeys({
    j: () => walk(1),
    k: () => walk(-1),
    ArrowDown: arrow(1),
    ArrowUp: arrow(-1),
    ' ': () => {
      const at = document.activeElement?.closest<HTMLElement>('[data-at]')?.dataset['at']
      const item = at === undefined ? undefined : items[Number(at)]
      if (onPeek === undefined || item === undefined || !('row' in item)) return false
      onPeek(item.row)
      return true
    },
  })
}
