/** The time that ages are counted from: the node's, since the clock of the browser may be wrong. */
import { useSyncExternalStore } from 'react'

const TICK_MS = 1000

let aheadMs = 0
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let tickedMs = 0

/** Takes the time that the node reports. */
export function setNodeTime(time: string): void {
  aheadMs = Date.parse(time) - Date.now()
  tick()
}

export function nowMs(): number {
  return Date.now() + aheadMs
}

/** Changes once a second: for ages and countdowns. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, lastTickMs)
}

function tick(): void {
  tickedMs = nowMs()
  for (const listener of listeners) listener()
}

/** Without a timer, the last tick may be of a page that was left minutes ago. */
export function lastTickMs(): number {
  if (timer === undefined && nowMs() - tickedMs >= TICK_MS) tickedMs = nowMs()
  return tickedMs
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
