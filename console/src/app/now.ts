/** The time that ages are counted from. The clock of the browser may be wrong, so the node's own is taken. */
import { useSyncExternalStore } from 'react'

let aheadMs = 0
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let tickMs = Date.now()

/** What the node said its time is. */
export function setNodeTime(time: string): void {
  aheadMs = Date.parse(time) - Date.now()
}

export function nowMs(): number {
  return Date.now() + aheadMs
}

/** Changes once a second: for ages and counts-down. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => tickMs) + aheadMs
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    tickMs = Date.now()
    for (const one of listeners) one()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
