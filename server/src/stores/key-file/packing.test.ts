import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { HeldProject } from '#ports/key-file.ts'
import type { KeyRecord } from '#ports/key-store.ts'
import { runs } from '#test/support/arbitraries.ts'
import { packAll, packChanged, type Write } from './packing.ts'
import { PackedKeyBytes } from './packed-keys.ts'
import { bytesInMemory } from './readable-bytes.ts'

const PLAIN = { noNullPrototype: true }
const SIGNING = new Uint8Array(32).fill(5)

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'a.b', 'é', '漢字', 'x'.repeat(300)),
  fc.string({ minLength: 1, maxLength: 8 }),
)
const projectName = fc.constantFrom('p', 'q', 'longer-名前', 'p'.repeat(400))
const budget = fc.option(
  fc.record(
    {
      limitNanoUsd: fc.bigInt({ min: 0n, max: 2n ** 62n }),
      per: fc.constantFrom('day', 'week', 'month', 'total'),
      hard: fc.boolean(),
    },
    PLAIN,
  ),
  { nil: undefined },
)
const limits = fc.constantFrom({}, { requestsPerMinute: 5 }, { tokensPerMinute: 7, imagesPerMinute: 1 })
const optional = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined })

const key: fc.Arbitrary<KeyRecord> = fc
  .record(
    {
      project: projectName,
      name,
      models: optional(fc.array(fc.string())),
      expiresAtMs: optional(fc.nat()),
      revokedAtMs: fc.option(fc.nat(), { nil: undefined, freq: 4 }),
      limits,
      budget,
      scopes: optional(fc.constantFrom(['embeddings'] as const, ['images', 'edits'] as const)),
      maxCallsAtOnce: optional(fc.nat()),
      addresses: optional(fc.array(fc.ipV4())),
      ends: fc.array(optional(fc.integer({ min: 1, max: 2 ** 47 })), { minLength: 1, maxLength: 3 }),
      seed: fc.nat(),
      version: fc.bigInt({ min: 0n, max: 2n ** 62n }),
    },
    PLAIN,
  )
  .map(({ ends, seed, ...fields }) => ({
    ...fields,
    id: `${fields.project}/${fields.name}`,
    lastUsedAtMs: undefined,
    createdAtMs: 0,
    projectTerms: { limits: {}, budget: undefined },
    secrets: ends.map((validUntilMs, index) => ({
      digest: hash('sha256', `${fields.project}/${fields.name} ${seed} ${index}`, 'base64'),
      pepper: '',
      tail: '',
      validUntilMs,
      createdAtMs: 0,
    })),
  }))
const project: fc.Arbitrary<HeldProject> = fc.record(
  {
    name: projectName,
    limits,
    budget,
    version: fc.bigInt({ min: 0n, max: 2n ** 62n }),
  },
  PLAIN,
)

interface Step {
  readonly keys: readonly KeyRecord[]
  readonly projects: readonly HeldProject[]
}
const step: fc.Arbitrary<Step> = fc.record({
  keys: fc.uniqueArray(key, { selector: ({ id }) => id, maxLength: 12 }),
  projects: fc.uniqueArray(project, { selector: (one) => one.name, maxLength: 3 }),
})

async function packedBy(pack: (write: Write) => Promise<void>): Promise<PackedKeyBytes> {
  const parts: Buffer[] = []
  await pack(async (bytes) => void parts.push(bytes))
  return PackedKeyBytes.open(bytesInMemory(parts), [SIGNING], 'this test')
}

async function* page<Item>(items: readonly Item[]) {
  yield items
}

test('packed keys, and those packed with changes any number of times, say what a map of records says', async () => {
  const histories = fc.asyncProperty(
    fc.array(step, { minLength: 1, maxLength: 5 }),
    async ([first, ...later]) => {
      const { keys, projects } = first as Step
      const all = new Map<string, KeyRecord>()
      const digests = new Set<string>()
      const allProjects = new Map(projects.map((one) => [one.name, one]))
      const alive = keys.filter(({ revokedAtMs }) => revokedAtMs === undefined)
      let state = { version: 1n, mark: 'first', verifiedAtMs: 1 }
      let packed = await packedBy((write) =>
        packAll(write, SIGNING, state, { keys: () => page(alive), projects: () => page(projects) }),
      )
      for (const one of alive) all.set(one.id, one)
      const check = (): void => {
        assert.deepEqual([packed.state, packed.size], [state, all.size])
        const open = new Map<string, { id: string; validUntilMs: number | undefined }>()
        for (const { id, secrets } of all.values())
          for (const { digest, validUntilMs } of secrets) {
            digests.add(digest)
            open.set(digest, { id, validUntilMs })
          }
        for (const digest of digests) {
          const found = packed.find(digest)
          assert.deepEqual(found && { id: found.key.id, validUntilMs: found.validUntilMs }, open.get(digest))
        }
        for (const record of all.values()) {
          const {
            revokedAtMs: _,
            lastUsedAtMs: __,
            createdAtMs: ___,
            projectTerms,
            secrets,
            ...held
          } = record
          assert.deepEqual(packed.keyOfId(record.id), held)
          assert.ok(secrets.length > 0 && projectTerms)
        }
        for (const one of allProjects.values()) assert.deepEqual(packed.projectOf(one.name), one)
        assert.equal(packed.keyOfId('p/none of these'), undefined)
        assert.equal(packed.projectOf('none of these'), undefined)
      }
      check()
      for (const changes of later) {
        state = { version: state.version + 1n, mark: 'later', verifiedAtMs: 2 }
        const before = packed
        packed = await packedBy((write) => packChanged(write, SIGNING, state, { packed: before, changes }))
        for (const one of changes.keys)
          if (one.revokedAtMs === undefined) all.set(one.id, one)
          else all.delete(one.id)
        for (const one of changes.projects) allProjects.set(one.name, one)
        check()
      }
    },
  )
  await fc.assert(histories, runs(300))
})

test('ten thousand keys are each found, and no other digest is', async () => {
  const count = 10_000
  const record = (index: number): KeyRecord => ({
    ...(fc.sample(key, { ...runs(1), seed: 1 })[0] as KeyRecord),
    id: `p/${index}`,
    project: 'p',
    name: String(index),
    secrets: [
      {
        digest: hash('sha256', String(index), 'base64'),
        pepper: '',
        tail: '',
        validUntilMs: undefined,
        createdAtMs: 0,
      },
    ],
  })
  const keys = Array.from({ length: count }, (_, index) => record(index))
  const state = { version: 1n, mark: '', verifiedAtMs: 0 }
  const packed = await packedBy((write) =>
    packAll(write, SIGNING, state, { keys: () => page(keys), projects: () => page([]) }),
  )
  for (let index = 0; index < 2 * count; index += 1) {
    const found = packed.find(hash('sha256', String(index), 'base64'))
    assert.equal(found?.key.id, index < count ? `p/${index}` : undefined)
    if (index % 10 === 0) assert.equal(packed.keyOfId(`p/${index}`)?.id, found?.key.id)
  }
})
