/** A layout that glides to each new one and then stands still. */
import { useEffect, useRef, useState } from 'react'
import { between, type RibbonLayout } from './layout.ts'

/** Shorter than the second after which the next one comes. */
const GLIDE_MS = 600

export function useEased(target: RibbonLayout): RibbonLayout {
  const [shown, setShown] = useState(target)
  const newest = useRef(shown)
  newest.current = shown
  useEffect(() => {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      setShown(target)
      return
    }
    const [from, startMs] = [newest.current, performance.now()]
    let frame = 0
    // A hidden tab gets no frames: it does nothing until it is seen again.
    const step = (nowMs: number): void => {
      const share = Math.min(1, Math.max(0, (nowMs - startMs) / GLIDE_MS))
      setShown(share === 1 ? target : between(from, target, 1 - (1 - share) ** 3))
      if (share < 1) frame = requestAnimationFrame(step)
    }
    frame = requestAnimationFrame(step)
    return () => cancelAnimationFrame(frame)
  }, [target])
  return shown
}
