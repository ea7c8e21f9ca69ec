/** English has two forms of a counted word. Chinese has one, so its files don't need this. */
import { count } from '../app/format.ts'

/** `1 node`, `3 nodes`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`
}
