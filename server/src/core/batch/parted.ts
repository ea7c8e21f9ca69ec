/** Divides the lines of a request that failed because of one of them. */
import { inputCount } from '../embedding/input.ts'
import type { Fault } from '../fault/fault.ts'
import type { RunnableLine } from './line.ts'

/** The line that the fault names goes alone. Otherwise halves: few requests then find one bad text among many. */
export function parted(lines: readonly RunnableLine[], fault: Fault): readonly (readonly RunnableLine[])[] {
  const named = namedInput(fault)
  const place = named === undefined ? -1 : lineOfInput(lines, named)
  const cuts = place === -1 ? [Math.ceil(lines.length / 2)] : [place, place + 1]
  const parts = [lines.slice(0, cuts[0]), lines.slice(cuts[0], cuts[1]), lines.slice(cuts[1] ?? lines.length)]
  return parts.filter((part) => part.length > 0)
}

/** The position of the input that the fault names. Undefined when it names none. */
function namedInput({ param, upstream }: Fault): number | undefined {
  // An upstream counts the inputs of its call, which holds equal texts once.
  if (upstream !== undefined) return undefined
  const [, place] = /^input\[(\d+)\]/.exec(param ?? '') ?? []
  return place === undefined ? undefined : Number(place)
}

function lineOfInput(lines: readonly RunnableLine[], input: number): number {
  let before = 0
  return lines.findIndex(({ request }) => {
    before += inputCount(request.input)
    return input < before
  })
}
