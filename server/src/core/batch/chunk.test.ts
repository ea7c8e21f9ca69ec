import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { partOf, rangeOfLines, type LineRange } from './chunk.ts'
import { linesIn } from './line.ts'

const encoder = new TextEncoder()

/** Lines of a file that are within a range, by their numbers in the file. */
function numbersIn(file: Uint8Array, range: LineRange | undefined): readonly number[] {
  if (range === undefined) return []
  const bytes = file.subarray(range.firstByte, range.firstByte + range.bytes)
  const lines = partOf(range, linesIn(bytes))
  assert.equal(lines.length, range.lines)
  return lines.map(({ number }) => range.firstLine + number)
}

test('whichever lines of a range have an end, they and the others are two ranges that hold every line once, again and again', () => {
  const texts = fc.array(fc.constantFrom('a', 'bb', 'ccc', '', ' '), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(
      texts,
      fc.array(fc.infiniteStream(fc.boolean()), { minLength: 1, maxLength: 4 }),
      (given, rounds) => {
        const file = encoder.encode(given.map((text) => `${text}\n`).join(''))
        const all = linesIn(file)
        let left: LineRange | undefined = {
          firstByte: 0,
          bytes: file.length,
          firstLine: 1,
          lines: all.length,
        }
        const done: number[] = []
        for (const choice of rounds) {
          if (left === undefined || left.lines === 0) break
          const range: LineRange = left
          const within = linesIn(file.subarray(range.firstByte, range.firstByte + range.bytes))
          const own = new Set(partOf(range, within).map(({ number }) => number))
          const ended = new Set([...own].filter(() => choice.next().value))
          const before = numbersIn(file, range)
          done.push(
            ...numbersIn(
              file,
              rangeOfLines(range, within, ({ number }) => ended.has(number)),
            ),
          )
          left = rangeOfLines(range, within, ({ number }) => own.has(number) && !ended.has(number))
          assert.equal(numbersIn(file, left).length, before.length - ended.size)
        }
        const numbers = [...done, ...numbersIn(file, left)].toSorted((a, b) => a - b)
        assert.deepEqual(
          numbers,
          all.map(({ number }) => 1 + number),
        )
      },
    ),
  )
})

test('lines that follow one another are a range without gaps', () => {
  const file = encoder.encode('a\nb\n\nc\nd\n')
  const range = { firstByte: 0, bytes: file.length, firstLine: 7, lines: 4 }
  const within = linesIn(file)
  assert.deepEqual(
    rangeOfLines(range, within, ({ number }) => number >= 1 && number <= 3),
    { firstByte: 2, bytes: 5, firstLine: 8, lines: 2 },
  )
})
