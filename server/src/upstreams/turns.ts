import { setImmediate as nextTurn } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/** One after another, each in a turn of the event loop of its own: several large bodies are never written in one go. */
export function takeTurn(): Promise<unknown> {
  last = last.then(() => nextTurn())
  return last
}
