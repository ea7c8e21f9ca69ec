import { setImmediate as nextTurn } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/** A turn of the event loop, one for each who asks: steps of several large requests never run in one go. */
export function takeTurn(): Promise<unknown> {
  last = last.then(() => nextTurn())
  return last
}
