/** What every `VectorCache` promises, wherever it keeps them. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { CachedVector, VectorCache } from '#ports/vector-cache.ts'
import { bitsOf, runs, soundVector } from '#test/support/arbitraries.ts'

export interface VectorCacheUnderTest {
  readonly cache: VectorCache
  /** Resolves when the written vectors can be read. */
  readonly settle: () => Promise<void>
  /** Lets time pass for it. */
  readonly pass: (durationMs: number) => Promise<void>
}

export const HOUR_MS = 3_600_000

export function aDigest(): string {
  return randomBytes(32).toString('hex')
}

let made = 0

/** Unlike every other. */
export function aVector(width = 4): CachedVector {
  made += 1
  const values = Float32Array.from({ length: width }, (_, index) => made + index / 1000)
  return {
    values,
    tokens: made,
    deployment: `upstream-${made % 3}/modèle`,
    madeAtMs: 1_794_700_000_000.5 + made,
  }
}

/** A vector's parts, with its values as bits: equal only if nothing at all has changed. */
export function exactly(vector: CachedVector | undefined): unknown {
  if (vector === undefined) return undefined
  const { values, tokens, deployment, madeAtMs } = vector
  return { bits: bitsOf(values), tokens, deployment, madeAtMs }
}

export async function expectFound(
  cache: VectorCache,
  digests: readonly string[],
  vectors: readonly (CachedVector | undefined)[],
): Promise<void> {
  assert.deepEqual((await cache.getMany(digests)).map(exactly), vectors.map(exactly))
}

export function vectorCacheSuite(name: string, open: () => Promise<VectorCacheUnderTest>): void {
  test(`${name}: a vector comes back bit for bit`, async () => {
    const { cache, settle } = await open()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 50 }).chain(soundVector), async (values) => {
        const [digest, vector] = [aDigest(), { ...aVector(), values }]
        cache.setMany([{ digest, vector }], HOUR_MS)
        await settle()
        await expectFound(cache, [digest], [vector])
      }),
      runs(300),
    )
  })

  test(`${name}: hits and misses keep the order of their digests, also of one that is asked for twice`, async () => {
    const { cache, settle } = await open()
    const entries = Array.from({ length: 300 }, () => ({ digest: aDigest(), vector: aVector() }))
    cache.setMany(entries, HOUR_MS)
    await settle()
    const asked = entries.flatMap(({ digest }, index) =>
      index % 3 === 0 ? [digest, aDigest()] : index % 3 === 1 ? [digest, digest] : [aDigest(), aDigest()],
    )
    const known = new Map(entries.map(({ digest, vector }) => [digest, vector]))
    for (let round = 0; round < 2; round += 1)
      await expectFound(
        cache,
        asked,
        asked.map((digest) => known.get(digest)),
      )
    await expectFound(cache, [], [])
  })

  test(`${name}: the largest request is asked for and kept at once`, async () => {
    const { cache, settle } = await open()
    const entries = Array.from({ length: 2048 }, () => ({ digest: aDigest(), vector: aVector(1536) }))
    cache.setMany(entries, HOUR_MS)
    await settle()
    await expectFound(
      cache,
      entries.map(({ digest }) => digest),
      entries.map(({ vector }) => vector),
    )
  })

  test(`${name}: the last one set under a digest counts`, async () => {
    const { cache, settle } = await open()
    const [digest, first, second, third] = [aDigest(), aVector(8), aVector(3), aVector(5)]
    cache.setMany([{ digest, vector: first }], HOUR_MS)
    cache.setMany(
      [
        { digest, vector: second },
        { digest, vector: third },
      ],
      HOUR_MS,
    )
    await settle()
    await expectFound(cache, [digest], [third])
  })

  test(`${name}: an entry is gone after its time, and only then`, async () => {
    const { cache, settle, pass } = await open()
    const [short, long, never] = [aDigest(), aDigest(), aDigest()]
    const [one, other] = [aVector(), aVector()]
    cache.setMany([{ digest: short, vector: one }], 500)
    cache.setMany([{ digest: long, vector: other }], HOUR_MS)
    for (const ttlMs of [0, -1, Number.NaN]) cache.setMany([{ digest: never, vector: one }], ttlMs)
    await settle()
    await expectFound(cache, [long, never], [other, undefined])
    await pass(600)
    await expectFound(cache, [short, long], [undefined, other])
  })

  test(`${name}: what its maker does to the values afterwards changes nothing`, async () => {
    const { cache, settle } = await open()
    const [digest, vector] = [aDigest(), aVector(16)]
    const before = { ...vector, values: vector.values.slice() }
    // A view into something larger, as it comes from an upstream.
    const answer = new Float32Array(1000)
    answer.set(vector.values, 500)
    const values = answer.subarray(500, 516)
    cache.setMany([{ digest, vector: { ...vector, values } }], HOUR_MS)
    await settle()
    answer.fill(0)
    await expectFound(cache, [digest], [before])
    const [found] = await cache.getMany([digest])
    assert.equal(found?.values.buffer.byteLength, 64, 'holds on to more than its values')
  })

  test(`${name}: any history of reads and writes gives what was written last`, async () => {
    const { cache, settle } = await open()
    const digests = Array.from({ length: 12 }, aDigest)
    const several = fc.array(fc.nat(digests.length - 1), { minLength: 1, maxLength: 6 })
    const step = fc.record({
      kind: fc.constantFrom('get', 'set'),
      which: several,
      width: fc.integer({ min: 1, max: 90 }),
    })
    const model = new Map<string, CachedVector>()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 200, maxLength: 200 }), async (steps) => {
        for (const { kind, which, width } of steps) {
          const named = which.map((index) => digests[index] as string)
          if (kind === 'get') {
            await settle()
            await expectFound(
              cache,
              named,
              named.map((digest) => model.get(digest)),
            )
          } else {
            const entries = named.map((digest) => ({ digest, vector: aVector(width) }))
            cache.setMany(entries, HOUR_MS)
            for (const { digest, vector } of entries) model.set(digest, vector)
          }
        }
      }),
      { ...runs(50), endOnFailure: true },
    )
  })

  test(`${name}: closed, it can still be read and written, without harm`, async () => {
    const { cache } = await open()
    const digest = aDigest()
    await cache.close()
    cache.setMany([{ digest, vector: aVector() }], HOUR_MS)
    await cache.close()
    assert.equal((await cache.getMany([digest])).length, 1)
  })
}
