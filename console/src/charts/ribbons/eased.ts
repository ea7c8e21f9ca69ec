/** A layout that glides to each new one and then stands still. */
import { useEffect, useRef, useState } from 'react'
import { between, type RibbonLayout } from './layout.ts'

/** Shorter than the second after which the next one comes. */
const GLIDE_MS = 600

export function useEased(target: RibbonLayout): RibbonLayout {
  const [shown, setShown] = useState(target)
  const last = useRef(target)
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
  useEffect(() => {
    if (isStill) return
    const [from, startMs] = [last.current, performance.now()]
    let frame = 0
    // A hidden tab gets no frames: it does nothing until it is seen again.
    const step = (nowMs: number): void => {
      const share = Math.min(1, Math.max(0, (nowMs - startMs) / GLIDE_MS))
      last.current = share === 1 ? target : between(from, target, 1 - (1 - share) ** 3)
      setShown(last.current)
      if (share < 1) frame = requestAnimationFrame(step)
    }
    frame = requestAnimationFrame(step)
    return () => cancelAnimationFrame(frame)
  }, [target, isStill])
  return isStill ? target : shown
}
