/** Sums over vectors, in four lanes side by side: in one lane each addition would wait for the last. */

/** Of `length` numbers of `a` from `aFrom` on with those of `b`. */
export function dot(a: Float64Array, b: Float64Array, length = a.length, aFrom = 0, bFrom = 0): number {
  let [one, two, three, four] = [0, 0, 0, 0]
  let i = 0
  for (; i + 3 < length; i += 4) {
    one += a[aFrom + i]! * b[bFrom + i]!
    two += a[aFrom + i + 1]! * b[bFrom + i + 1]!
    three += a[aFrom + i + 2]! * b[bFrom + i + 2]!
    four += a[aFrom + i + 3]! * b[bFrom + i + 3]!
  }
  for (; i < length; i++) one += a[aFrom + i]! * b[bFrom + i]!
  return one + two + three + four
}

export function subtract(from: Float64Array, what: Float64Array, times: number): void {
  for (let i = 0; i < from.length; i++) from[i]! -= times * what[i]!
}
