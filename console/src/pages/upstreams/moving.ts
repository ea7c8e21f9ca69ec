/**
 * Moving a deployment to another place by its grip: with the pointer, or with Space, the arrow keys and Space again. Nothing
 * changes before it is dropped; a line shows where that would be, and a screen reader reads it.
 */
import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent, type RefObject } from 'react'
import { words } from '../../words/words.ts'
import { isSameSlot, slotOf, slotsFor, type DeploymentRow, type Slot, type Tier } from './deployments.ts'

interface Lifted {
  readonly key: string
  readonly name: string
  readonly slot: Slot
  /** How far the pointer has moved it. Undefined: the keyboard lifted it. */
  readonly byPx: number | undefined
}

export interface Moving {
  readonly lifted: Lifted | undefined
  /** For the live region. */
  readonly announcement: string
  readonly gripProps: (row: DeploymentRow) => GripProps
}

interface GripProps {
  readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void
  readonly onPointerMove: (event: PointerEvent<HTMLElement>) => void
  readonly onPointerUp: () => void
  readonly onPointerCancel: () => void
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
  readonly onBlur: () => void
}

/** Marks for finding places under the pointer, and the grip that had the focus. */
export const TIER = 'data-tier'
export const ROW = 'data-deployment'
export const GRIP = 'data-grip'

/** Time after which a move is no longer announced: a screen reader has read it, and the move may be reverted. */
const ANNOUNCED_MS = 5000

export function useMoving(
  tiers: readonly Tier[],
  /** Around all tiers. */
  element: RefObject<HTMLElement | null>,
  onMove: (key: string, slot: Slot) => void,
): Moving {
  const [lifted, setLifted] = useState<Lifted>()
  const [announcement, setAnnouncement] = useState('')
  const startY = useRef(0)
  const focusNext = useRef<string>(undefined)
  const say = words.routing.move
  useEffect(() => {
    if (announcement === '') return undefined
    const timer = setTimeout(() => setAnnouncement(''), ANNOUNCED_MS)
    return () => clearTimeout(timer)
  }, [announcement])
  // A row that moved to another tier is a new element.
  useEffect(() => {
    if (focusNext.current === undefined) return
    const key = focusNext.current
    focusNext.current = undefined
    gripIn(element.current, key)?.focus()
  })

  const drop = (one: Lifted): void => {
    setLifted(undefined)
    setAnnouncement(say.dropped(one.name, placeText(tiers, one)))
    focusNext.current = one.key
    if (!isSameSlot(one.slot, slotOf(tiers, one.key))) onMove(one.key, one.slot)
  }
  const cancel = (one: Lifted): void => {
    setLifted(undefined)
    setAnnouncement(say.cancelled(one.name))
  }
  const step = (one: Lifted, by: -1 | 1): void => {
    const slots = slotsFor(tiers, one.key)
    const slot = slots[slots.findIndex((slot) => isSameSlot(slot, one.slot)) + by]
    if (slot === undefined) return
    const next = { ...one, slot }
    setLifted(next)
    setAnnouncement(placeText(tiers, next))
  }

  const gripProps = (row: DeploymentRow): GripProps => {
    const own = lifted?.key === row.key ? lifted : undefined
    const start = (byPx: number | undefined): void => {
      const slot = slotOf(tiers, row.key)
      if (slot === undefined) return
      const one = { key: row.key, name: row.upstream, slot, byPx }
      setLifted(one)
      setAnnouncement(say.lifted(row.upstream, placeText(tiers, one)))
    }
    return {
      onPointerDown: (event) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        startY.current = event.clientY
        start(0)
      },
      onPointerMove: (event) => {
        if (own?.byPx === undefined) return
        const slot = slotAt(element.current, event.clientY, row.key) ?? own.slot
        setLifted({ ...own, slot, byPx: event.clientY - startY.current })
      },
      onPointerUp: () => own?.byPx !== undefined && drop(own),
      onPointerCancel: () => own && cancel(own),
      onBlur: () => own && own.byPx === undefined && cancel(own),
      onKeyDown: (event) => {
        const { key } = event
        if (key === ' ' || key === 'Enter') {
          event.preventDefault()
          if (own === undefined) start(undefined)
          else drop(own)
        } else if (own !== undefined && (key === 'ArrowUp' || key === 'ArrowDown')) {
          event.preventDefault()
          step(own, key === 'ArrowUp' ? -1 : 1)
        } else if (own !== undefined && key === 'Escape') {
          event.preventDefault()
          event.stopPropagation()
          cancel(own)
        }
      },
    }
  }
  return {
    lifted,
    announcement,
    gripProps,
  }
}

function gripIn(box: HTMLElement | null, key: string): HTMLElement | undefined {
  return [...(box?.querySelectorAll<HTMLElement>(`[${GRIP}]`) ?? [])].find(
    (grip) => grip.getAttribute(GRIP) === key,
  )
}

/** The place that is nearest to the pointer. */
function slotAt(box: HTMLElement | null, y: number, key: string): Slot | undefined {
  const tiers = [...(box?.querySelectorAll<HTMLElement>(`[${TIER}]`) ?? [])]
  const nearest = tiers.toSorted((one, other) => distance(one, y) - distance(other, y))[0]
  if (nearest === undefined) return undefined
  const rows = [...nearest.querySelectorAll<HTMLElement>(`[${ROW}]`)].filter(
    (row) => row.getAttribute(ROW) !== key,
  )
  const before = rows.find((row) => {
    const { top, height } = row.getBoundingClientRect()
    return y < top + height / 2
  })
  return { priority: Number(nearest.getAttribute(TIER)), before: before?.getAttribute(ROW) ?? undefined }
}

function distance(element: HTMLElement, y: number): number {
  const { top, bottom } = element.getBoundingClientRect()
  return y < top ? top - y : y > bottom ? y - bottom : 0
}

function placeText(tiers: readonly Tier[], { key, slot }: Pick<Lifted, 'key' | 'slot'>): string {
  const say = words.routing.move
  const at = tiers.findIndex(({ priority }) => priority === slot.priority)
  const tier = tiers[at]
  if (tier === undefined) return say.atNew(tiers.length + 1)
  const others = tier.rows.filter((row) => row.key !== key)
  const position = others.findIndex((row) => row.key === slot.before)
  return say.at(at + 1, (position < 0 ? others.length : position) + 1, others.length + 1)
}
