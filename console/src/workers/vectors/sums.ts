/**
 * Sums over vectors, in four lanes side by side: in one lane each addition would wait for the last. The lanes are four
 * variables on purpose: taken apart from a list, they make the loop three times as slow.
 */

/** Of `length` numbers of `a` from `aFrom` on with those of `b`. */
export function dot(a: Float64Array, b: Float64Array, length = a.length, aFrom = 0, bFrom = 0): number {
  let one = 0
  let two = 0
  let three = 0
  let four = 0
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

/** `rows` rows of a matrix times a vector, four at a time: each number of the vector is read once for all four. */
export function multiply(
  matrix: Float64Array,
  vector: Float64Array,
  into: Float64Array,
  rows = vector.length,
): void {
  const size = vector.length
  let row = 0
  for (; row + 3 < rows; row += 4) {
    const a = row * size
    const b = a + size
    const c = b + size
    const d = c + size
    let one = 0
    let two = 0
    let three = 0
    let four = 0
    for (let i = 0; i < size; i++) {
      const value = vector[i]!
      one += matrix[a + i]! * value
      two += matrix[b + i]! * value
      three += matrix[c + i]! * value
      four += matrix[d + i]! * value
    }
    into[row] = one
    into[row + 1] = two
    into[row + 2] = three
    into[row + 3] = four
  }
  for (; row < rows; row++) into[row] = dot(matrix, vector, size, row * size)
}

/** Subtracts `rows` rows of a matrix from a vector, each multiplied by its entry of `times`. */
export function subtract(
  vector: Float64Array,
  matrix: Float64Array,
  times: Float64Array,
  rows: number,
): void {
  const size = vector.length
  let row = 0
  for (; row + 3 < rows; row += 4) {
    const a = row * size
    const b = a + size
    const c = b + size
    const d = c + size
    const one = times[row]!
    const two = times[row + 1]!
    const three = times[row + 2]!
    const four = times[row + 3]!
    for (let i = 0; i < size; i++)
      vector[i]! -=
        one * matrix[a + i]! + two * matrix[b + i]! + three * matrix[c + i]! + four * matrix[d + i]!
  }
  for (; row < rows; row++)
    for (let i = 0, at = row * size; i < size; i++, at++) vector[i]! -= times[row]! * matrix[at]!
}
