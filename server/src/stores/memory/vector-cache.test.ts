import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { CachedVector } from '#ports/vector-cache.ts'
import { runs } from '#test/support/arbitraries.ts'
import { ENTRY_OVERHEAD_BYTES, MemoryVectorCache } from './vector-cache.ts'

function vectorOf(width: number): CachedVector {
  return { values: new Float32Array(width).fill(0.5), tokens: width, deployment: 'a/b', madeAtMs: 1 }
}

function costOf(width: number): number {
  return width * 4 + ENTRY_OVERHEAD_BYTES
}

test('any history forgets by time, then by bytes, those used longest ago first', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const several = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 })
  const width = fc.oneof(fc.integer({ min: 1, max: 400 }), fc.constant(2000))
  const step = fc.oneof(
    fc.record({ kind: fc.constant('get' as const), several }),
    fc.record({ kind: fc.constant('set' as const), several, width, ttlMs: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ kind: fc.constant('pass' as const), durationMs: fc.integer({ min: 1, max: 20 }) }),
  )
  const maxBytes = 4 * costOf(400)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 100, maxLength: 100 }), async (steps) => {
      let nowMs = 0
      const cache = new MemoryVectorCache({ maxBytes, clock: { monotonicMs: () => nowMs } })
      /** The one used longest ago first. */
      let model: { readonly name: string; readonly width: number; readonly endMs: number }[] = []
      const bytes = (): number => model.reduce((sum, entry) => sum + costOf(entry.width), 0)
      for (const step of steps) {
        if (step.kind === 'pass') nowMs += step.durationMs
        else if (step.kind === 'set') {
          cache.setMany(
            step.several.map((digest) => ({ digest, vector: vectorOf(step.width) })),
            step.ttlMs,
          )
          for (const name of step.several) {
            model = model.filter((entry) => entry.name !== name)
            if (costOf(step.width) > maxBytes) continue
            model.push({ name, width: step.width, endMs: nowMs + step.ttlMs })
            while (bytes() > maxBytes) model.shift()
          }
        } else {
          const expected = step.several.map((name) => {
            const entry = model.find((one) => one.name === name)
            model = model.filter((one) => one !== entry)
            if (!entry || entry.endMs <= nowMs) return undefined
            model.push(entry)
            return entry.width
          })
          const found = await cache.getMany(step.several)
          assert.deepEqual(
            found.map((vector) => vector?.tokens),
            expected,
          )
        }
        assert.deepEqual(cache.size(), { entries: model.length, bytes: bytes() })
        assert.ok(cache.size().bytes <= maxBytes)
      }
    }),
    runs(200),
  )
})

test('a vector larger than the whole cache is not kept, and drives nothing out', async () => {
  const cache = new MemoryVectorCache({ maxBytes: 3 * costOf(100), clock: { monotonicMs: () => 0 } })
  cache.setMany([{ digest: 'small', vector: vectorOf(100) }], 1000)
  cache.setMany([{ digest: 'large', vector: vectorOf(2000) }], 1000)
  const [small, large] = await cache.getMany(['small', 'large'])
  assert.equal(small?.tokens, 100)
  assert.equal(large, undefined)
  await cache.close()
  assert.deepEqual(cache.size(), { entries: 0, bytes: 0 })
})
