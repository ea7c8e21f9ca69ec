/** The console measures vector types in the browser, with code of its own: its values are those that the gateway sends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { float16Of, ubinaryOf } from '#core/embedding/vector-types/make.ts'
import { runs } from '#test/support/arbitraries.ts'
import { toBits, toFloat16 } from '../../../console/src/workers/vectors/types.ts'
import { float32Array } from '../support/arbitraries.ts'

/** Some vectors of one width, a multiple of eight, within the lengths of unit vectors. */
const vectors = fc
  .integer({ min: 1, max: 3 })
  .chain((bytes) => fc.array(float32Array(8 * bytes, 8 * bytes), { minLength: 2, maxLength: 12 }))
  .map((rows) => rows.map((row) => row.map((value) => (Math.abs(value) <= 1 ? value : 1 / value))))

test('float16 and bits of the types tab are bit-equal to those of the gateway', () => {
  fc.assert(
    fc.property(vectors, (rows) => {
      const all = Float64Array.from(rows.flatMap((row) => [...row]))
      const sent = rows.map((row) => ({
        float16: float16Of(row),
        bits: ubinaryOf(row),
      }))
      const flat = (type: 'float16' | 'bits'): number[] => sent.flatMap((one) => [...one[type]])
      assert.deepEqual([...toBits(all)], flat('bits'))
      assert.deepEqual(
        Array.from(all, (value) => toFloat16(value) + 0),
        flat('float16').map((value) => value + 0),
      )
    }),
    runs(1000),
  )
})
