/** What every `SpaceStore` promises about families, whichever engine keeps it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FamilyMember, SpaceStore } from '#ports/spaces.ts'
import { START_MS } from './spaces.ts'

function aMember(overrides: Partial<FamilyMember> = {}): FamilyMember {
  return {
    family: 'makers',
    generation: 1,
    model: 'large',
    modelGeneration: 1,
    isReference: false,
    isJoined: true,
    agreement: 0.912_345_678_9,
    found: 0.975,
    reason: undefined,
    deployment: 'large/one',
    comparedAtMs: START_MS,
    ...overrides,
  }
}

const vectors = (first: number, width = 4): readonly Float32Array[] =>
  Array.from({ length: 3 }, (_, text) =>
    Float32Array.from({ length: width }, (__, at) => first + text / 3 + at),
  )

const reference = aMember({ isReference: true, agreement: 1, found: 1 })

export function familyStoreSuite(name: string, open: () => Promise<{ readonly spaces: SpaceStore }>): void {
  test(`${name}: a family begins once, and its members and their vectors are read again to the bit`, async () => {
    const { spaces } = await open()
    assert.deepEqual([await spaces.familyMembers(), await spaces.familyWitnesses('makers')], [[], []])
    await Promise.all([1, 2, 3].map((first) => spaces.beginFamily(reference, vectors(first))))
    const [witness, ...others] = await spaces.familyWitnesses('makers')
    assert.deepEqual([await spaces.familyMembers(), others], [[reference], []])
    assert.ok([1, 2, 3].some((first) => isSame(witness?.vectors, vectors(first))))
    const small = aMember({ model: 'small', deployment: 'small/one' })
    await spaces.recordMember(small, vectors(7, 2), 1)
    assert.deepEqual(await spaces.familyMembers(), [reference, small])
    const witnesses = await spaces.familyWitnesses('makers')
    assert.deepEqual(
      witnesses.map(({ model, isReference }) => [model, isReference]),
      [
        ['large', true],
        ['small', false],
      ],
    )
    assert.deepEqual(witnesses[1]?.vectors, vectors(7, 2))
    assert.deepEqual(await spaces.familyWitnesses('others'), [])
  })

  test(`${name}: a model that never joined is no witness, and one that left stays one with its first vectors`, async () => {
    const { spaces } = await open()
    await spaces.beginFamily(reference, vectors(1))
    const outside = aMember({
      model: 'small',
      isJoined: false,
      agreement: undefined,
      found: undefined,
      reason: 'no',
    })
    await spaces.recordMember(outside, vectors(2), 1)
    assert.equal((await spaces.familyWitnesses('makers')).length, 1)
    assert.deepEqual((await spaces.familyMembers())[1], outside)
    const joined = aMember({ model: 'small', comparedAtMs: START_MS + 1 })
    await spaces.recordMember(joined, vectors(3, 2), 1)
    await spaces.recordMember({ ...outside, comparedAtMs: START_MS + 2 }, vectors(4), 2)
    assert.equal((await spaces.familyMembers())[1]?.isJoined, false)
    await spaces.recordMember(joined, vectors(5), 2)
    assert.deepEqual((await spaces.familyWitnesses('makers'))[1]?.vectors, vectors(3, 2))
    await spaces.recordMember({ ...reference, comparedAtMs: START_MS + 3 }, vectors(6), 2)
    assert.deepEqual((await spaces.familyWitnesses('makers'))[0]?.vectors, vectors(1))
  })

  test(`${name}: a comparison with other witnesses than there are, or of another generation, has no effect`, async () => {
    const { spaces } = await open()
    await spaces.recordMember(aMember(), vectors(1), 0)
    await spaces.beginFamily({ ...reference, generation: 2 }, vectors(1))
    assert.deepEqual(await spaces.familyMembers(), [])
    await spaces.beginFamily(reference, vectors(1))
    for (const [change, witnesses] of [
      [{}, 0],
      [{}, 2],
      [{ generation: 2 }, 1],
    ] as const)
      await spaces.recordMember(aMember({ model: 'small', ...change }), vectors(2), witnesses)
    assert.deepEqual(await spaces.familyMembers(), [reference])
  })

  test(`${name}: the next generation begins without the members of the one before, and leaves other families alone`, async () => {
    const { spaces } = await open()
    const other = { ...reference, family: 'others' }
    await spaces.beginFamily(reference, vectors(1))
    await spaces.beginFamily(other, vectors(8))
    await spaces.recordMember(aMember({ model: 'small' }), vectors(2), 1)
    const next = { ...reference, generation: 2, modelGeneration: 2 }
    await spaces.beginFamily(next, vectors(3))
    await spaces.beginFamily(reference, vectors(4))
    assert.deepEqual(await spaces.familyMembers(), [next, other])
    assert.deepEqual(
      (await spaces.familyWitnesses('makers')).map((one) => one.vectors),
      [vectors(3)],
    )
  })
}

function isSame(ones: readonly Float32Array[] | undefined, others: readonly Float32Array[]): boolean {
  return JSON.stringify(ones) === JSON.stringify(others)
}
