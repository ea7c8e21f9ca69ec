import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Files `<name>-<number>` of a folder, in the order they were begun. */
export function segmentsIn(folder: string, name: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith(`${name}-`) && Number.isInteger(segmentNumber(file)))
    .toSorted((left, right) => segmentNumber(left) - segmentNumber(right))
    .map((file) => join(folder, file))
}

export function segmentNumber(path: string): number {
  return Number(path.slice(path.lastIndexOf('-') + 1))
}

export function segmentPath(folder: string, name: string, number: number): string {
  return join(folder, `${name}-${number}`)
}
