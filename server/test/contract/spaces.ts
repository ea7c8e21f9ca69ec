/** What every `SpaceStore` promises, whichever engine keeps it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { listProbes, listSlots } from '#control/spaces/queries.ts'
import { spaceOf } from '#core/embedding/space.ts'
import type { AuditLog } from '#ports/audit.ts'
import {
  SHORT,
  TORN,
  type DeploymentStanding,
  type GoodCheck,
  type ProbeResult,
  type SpaceReference,
  type SpaceStore,
} from '#ports/spaces.ts'
import type { Database } from '#stores/postgres/database.ts'
import { PostgresSpaces } from '#stores/postgres/spaces.ts'
import { bitsOf, float32, runs } from '#test/support/arbitraries.ts'
import type { DatabaseDirectory } from '#test/support/directory.ts'
import { PROBE_TEXTS } from '#core/embedding/probe-texts.ts'

export interface SpacesWorld {
  readonly spaces: SpaceStore
  readonly audit: AuditLog
  readonly database: Database
}

export const START_MS = Date.UTC(2026, 10, 20)
export const MODEL = 'embed/w4'
const SPACE = spaceOf(MODEL, 4)

export function aReference(overrides: Partial<SpaceReference> = {}): SpaceReference {
  const vectors = Array.from({ length: 8 }, (_, text) => Float32Array.of(text, 0.1, -0.25, 1))
  const [model, generation, width, deployment] = [MODEL, 1, 4, `${MODEL}/one`] as const
  return { model, generation, width, vectors, deployment, acceptedAtMs: START_MS, ...overrides }
}

export function aResult(overrides: Partial<ProbeResult> = {}): ProbeResult {
  return {
    model: MODEL,
    deployment: `${MODEL}/one`,
    target: '0123abcd',
    space: SPACE,
    atMs: START_MS,
    verdict: 'good',
    cosines: [1, 0.999_999_912_345],
    leastCosine: 0.999_999_912_345,
    normDrift: 1.25e-7,
    reason: undefined,
    ...overrides,
  }
}

const TEXT_COSINES = PROBE_TEXTS.map(() => 0.9999)
const bad = { verdict: 'quarantined', cosines: [1, 0.4], leastCosine: 0.4, reason: 'another space' } as const
const failed = {
  verdict: 'failed',
  cosines: undefined,
  leastCosine: undefined,
  normDrift: undefined,
  reason: 'no answer',
} as const

async function only(spaces: SpaceStore): Promise<DeploymentStanding> {
  const standings = await spaces.standings()
  assert.equal(standings.length, 1)
  return standings[0] as DeploymentStanding
}

/** All probes of a model, as the control API answers them. */
function probesOf(database: Database, model = MODEL, sinceMs = 0, limit = 100) {
  return listProbes(database, model, new Date(sinceMs), limit)
}

/** Whether vectors made then must not be used. */
function isBadThen({ badWindows, isQuarantined, lastGoodAtMs }: DeploymentStanding, atMs: number): boolean {
  if (isQuarantined && atMs > (lastGoodAtMs ?? -Infinity)) return true
  return badWindows.some(({ fromMs, untilMs }) => fromMs <= atMs && atMs <= untilMs)
}

const measures = { good: {}, warned: { verdict: 'warned', reason: 'near' }, bad, failed } as const
type Measure = keyof typeof measures

/** Of the moments between probes, those at which the deployment was not known to be good before and after. */
function badMoments(probes: readonly { readonly measure: Measure; readonly atMs: number }[]): number[] {
  const compared = probes.filter(({ measure }) => measure !== 'failed')
  const ends = [...compared.keys()].filter((index) =>
    [compared[index - 1], compared[index]].some((probe) => probe?.measure === 'bad'),
  )
  const last = compared.at(-1)
  return [
    ...ends.map((index) => (compared[index]?.atMs ?? 0) - 1),
    ...(last?.measure === 'bad' ? [last.atMs + 1] : []),
  ]
}

export function spaceStoreSuite(name: string, open: () => Promise<SpacesWorld>, histories: number): void {
  test(`${name}: a reference is the first that came, for everybody, to the last bit`, async () => {
    const { spaces } = await open()
    assert.deepEqual(await spaces.references(), [])
    const asked = Array.from({ length: 6 }, (_, index) =>
      aReference({ deployment: `${MODEL}/${index}`, acceptedAtMs: START_MS + index }),
    )
    const counting = await Promise.all(asked.map((reference) => spaces.beginReference(reference)))
    const [kept] = await spaces.references()
    for (const one of counting) assert.deepEqual(one, kept)
    assert.ok(asked.some(({ deployment }) => deployment === kept?.deployment))
    assert.deepEqual(await spaces.beginReference(aReference({ width: 2, vectors: [] })), kept)
    await spaces.beginReference(aReference({ model: 'other' }))
    assert.equal((await spaces.references()).length, 2)
  })

  test(`${name}: images are added to a reference once, to the last bit, and a new space has its own`, async () => {
    const { spaces } = await open()
    const images = (seed: number): Float32Array[] =>
      Array.from({ length: 3 }, (_, image) => Float32Array.of(image, seed, 1e-45, -0.1))
    const texts = await spaces.beginReference(aReference())
    assert.equal(texts.imageVectors, undefined)
    const asked = Array.from({ length: 4 }, (_, seed) =>
      spaces.addImages({ ...texts, imageVectors: images(seed) }),
    )
    const [first, ...others] = await Promise.all(asked)
    for (const one of others) assert.deepEqual(one, first)
    assert.deepEqual(await spaces.references(), [first])
    assert.deepEqual({ ...first, imageVectors: undefined }, { ...texts, imageVectors: undefined })
    const next = aReference({ generation: 2, imageVectors: images(9) })
    await spaces.replaceReference(next, { kind: 'member', name: 'alice' })
    const late = await spaces.addImages({ ...texts, imageVectors: images(7) })
    assert.deepEqual(late, { ...next, acceptedBy: 'alice' })
    await spaces.replaceReference(aReference({ generation: 3 }), { kind: 'member', name: 'alice' })
    assert.equal((await spaces.references())[0]?.imageVectors, undefined, 'images of an earlier space')
    const whole = aReference({ model: 'other', imageVectors: images(1) })
    assert.deepEqual(await spaces.beginReference(whole), whole)
    assert.deepEqual(await spaces.beginReference({ ...whole, imageVectors: images(2) }), whole)
  })

  test(`${name}: vectors come back with every bit they had`, async () => {
    const { spaces } = await open()
    let models = 0
    const vectors = fc.array(
      fc.array(float32, { minLength: 3, maxLength: 3 }).map((values) => Float32Array.from(values)),
      { minLength: 8, maxLength: 8 },
    )
    await fc.assert(
      fc.asyncProperty(vectors, async (drawn) => {
        models += 1
        const given = aReference({ model: `model-${models}`, width: 3, vectors: drawn })
        const kept = await spaces.beginReference(given)
        assert.deepEqual(kept.vectors.map(bitsOf), drawn.map(bitsOf))
        assert.deepEqual({ ...kept, vectors: [] }, { ...given, vectors: [] })
      }),
      runs(25),
    )
  })

  test(`${name}: a space is accepted once, however often it is asked for, and it is in the audit`, async () => {
    const { spaces, audit } = await open()
    await spaces.beginReference(aReference())
    const next = aReference({ generation: 2, deployment: `${MODEL}/two`, acceptedAtMs: START_MS + 5 })
    const rival = aReference({ generation: 2, deployment: `${MODEL}/three`, acceptedAtMs: START_MS + 6 })
    await spaces.replaceReference(next, { kind: 'member', name: 'alice' })
    await Promise.all([
      spaces.replaceReference(next, { kind: 'member', name: 'alice' }),
      spaces.replaceReference(rival, { kind: 'member', name: 'bob' }),
      spaces.replaceReference(aReference(), { kind: 'member', name: 'bob' }),
    ])
    assert.deepEqual(await spaces.references(), [{ ...next, acceptedBy: 'alice' }])
    const entries = await audit.list({ limit: 10 })
    assert.deepEqual(
      entries.map(({ actor, action, target, detail }) => ({ actor, action, target, detail })),
      [
        {
          actor: 'alice',
          action: 'space.accept',
          target: MODEL,
          detail: { deployment: `${MODEL}/two`, before: SPACE, after: spaceOf(MODEL, 4, 2) },
        },
      ],
    )
    await spaces.replaceReference(aReference({ model: 'new' }), { kind: 'member', name: 'carol' })
    assert.equal((await spaces.references()).length, 2)
  })

  test(`${name}: a standing follows the probes, and a failed one changes nothing in it`, async () => {
    const { spaces } = await open()
    await spaces.beginReference(aReference())
    const good = aResult()
    await spaces.record(good)
    const standing = {
      model: MODEL,
      deployment: `${MODEL}/one`,
      target: '0123abcd',
      space: SPACE,
      isQuarantined: false,
      lastGoodAtMs: START_MS,
      goodAtMs: [],
      goodSizes: { '8x128': START_MS },
      reason: undefined,
      last: good,
      badWindows: [],
    }
    assert.deepEqual(await only(spaces), standing)
    const away = aResult({ ...failed, atMs: START_MS + 1 })
    await spaces.record(away)
    const earlier = { atMs: START_MS, leastCosine: good.leastCosine }
    assert.deepEqual(await only(spaces), { ...standing, last: { ...away, earlier } })
    const outside = aResult({ ...bad, atMs: START_MS + 2 })
    await spaces.record(outside)
    const quarantined = { ...standing, isQuarantined: true, reason: 'another space' }
    assert.deepEqual(await only(spaces), { ...quarantined, last: outside })
    const awayAgain = aResult({ ...failed, atMs: START_MS + 3 })
    await spaces.record(awayAgain)
    assert.deepEqual(await only(spaces), {
      ...quarantined,
      last: { ...awayAgain, earlier: { atMs: START_MS + 2, leastCosine: outside.leastCosine } },
    })
    const back = aResult({ verdict: 'warned', leastCosine: 0.995, reason: 'near', atMs: START_MS + 4 })
    await spaces.record(back)
    const badWindows = [{ fromMs: START_MS, untilMs: START_MS + 4 }]
    assert.deepEqual(await only(spaces), {
      ...standing,
      lastGoodAtMs: START_MS + 4,
      goodSizes: { '8x128': START_MS + 4 },
      reason: 'near',
      last: back,
      badWindows,
    })
  })

  const large = { inputs: 64, tokens: 2100 }
  const good = (atMs: number, more: Partial<GoodCheck> = {}): GoodCheck => {
    const { model, deployment, target } = aResult()
    return { model, deployment, target, space: SPACE, atMs, size: undefined, ...more }
  }

  test(`${name}: good probes of a deployment in use move its last good moment, and are no points; of a quarantined one they move nothing`, async () => {
    const { spaces, database } = await open()
    await spaces.beginReference(aReference())
    await spaces.record(aResult())
    await spaces.recordGood([good(START_MS + 20), good(START_MS + 40)])
    assert.equal((await only(spaces)).lastGoodAtMs, START_MS + 40)
    // Late, or of a space that is the model's no longer, or of a deployment that has no standing.
    await spaces.recordGood([
      good(START_MS + 30),
      good(START_MS + 50, { space: 'earlier@4:00000000' }),
      good(START_MS + 50, { target: 'elsewhere' }),
    ])
    assert.equal((await only(spaces)).lastGoodAtMs, START_MS + 40)
    const outside = aResult({ ...bad, cosines: undefined, isInUse: true, atMs: START_MS + 60 })
    await spaces.record(outside)
    await spaces.recordGood([good(START_MS + 70)])
    const { isQuarantined, lastGoodAtMs, last } = await only(spaces)
    assert.deepEqual([isQuarantined, lastGoodAtMs, last.isInUse], [true, START_MS + 40, true])
    assert.equal((await probesOf(database)).length, 2)
    await spaces.record(aResult({ atMs: START_MS + 80 }))
    assert.deepEqual((await only(spaces)).badWindows, [{ fromMs: START_MS + 40, untilMs: START_MS + 80 }])
  })

  test(`${name}: the window of a change that shows in calls of a size begins at the last good probe of that size`, async () => {
    const { spaces } = await open()
    await spaces.beginReference(aReference())
    await spaces.record(aResult())
    await spaces.recordGood([good(START_MS + 10, { size: large }), good(START_MS + 20)])
    const { goodSizes } = await only(spaces)
    assert.deepEqual(goodSizes, { '8x128': START_MS, '64x2048': START_MS + 10 })
    await spaces.record(aResult({ ...bad, isInUse: true, size: large, atMs: START_MS + 30 }))
    const quarantined = await only(spaces)
    assert.deepEqual([quarantined.lastGoodAtMs, quarantined.last.size], [START_MS + 10, large])
    await spaces.record(aResult({ size: large, atMs: START_MS + 40 }))
    const returned = await only(spaces)
    assert.deepEqual(returned.badWindows, [{ fromMs: START_MS + 10, untilMs: START_MS + 40 }])
    assert.deepEqual(returned.goodSizes, { '8x128': START_MS + 40, '64x2048': START_MS + 40 })
  })

  test(`${name}: a bad probe counts that was sent in the same millisecond as a good one`, async () => {
    const { spaces } = await open()
    await spaces.beginReference(aReference())
    await spaces.record(aResult())
    await spaces.record(aResult({ ...bad, isInUse: true }))
    assert.equal((await only(spaces)).isQuarantined, true)
  })

  test(`${name}: of a size that was never good, nothing is known to be good`, async () => {
    const { spaces } = await open()
    await spaces.beginReference(aReference())
    await spaces.record(aResult())
    await spaces.record(aResult({ ...bad, isInUse: true, size: large, atMs: START_MS + 30 }))
    assert.equal((await only(spaces)).lastGoodAtMs, undefined)
    await spaces.record(aResult({ size: large, atMs: START_MS + 40 }))
    assert.deepEqual((await only(spaces)).badWindows, [{ fromMs: 0, untilMs: START_MS + 40 }])
  })

  test(`${name}: the window of a change that only a probe of all texts shows begins at the last one of any size`, async () => {
    const { spaces } = await open()
    await spaces.beginReference(aReference())
    await spaces.record(aResult())
    await spaces.recordGood([good(START_MS + 10, { size: large }), good(START_MS + 20)])
    await spaces.record(aResult({ ...bad, atMs: START_MS + 30 }))
    assert.equal((await only(spaces)).lastGoodAtMs, START_MS + 10)
  })

  test(`${name}: of all nodes one takes on a probe, and the next when its time has passed`, async () => {
    const { spaces } = await open()
    const { model, deployment, target } = aResult()
    const claim = (everyMs: number, probe = SHORT): Promise<boolean> =>
      spaces.claimProbe({ model, deployment, target, name: probe }, everyMs)
    assert.equal(await claim(20_000), false, 'without a standing')
    await spaces.beginReference(aReference())
    await spaces.record(aResult())
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(20_000)))
    assert.equal(claims.filter(Boolean).length, 1)
    assert.deepEqual([await claim(20_000), await claim(20_000, '64x2048')], [false, true])
    await spaces.recordGood([good(START_MS + 10)])
    await spaces.record(aResult({ atMs: START_MS + 20 }))
    assert.deepEqual([await claim(20_000), await claim(0)], [false, true])
  })

  test(`${name}: where replicas differ, the window begins at the oldest good moment that is remembered`, async () => {
    const { spaces } = await open()
    await spaces.beginReference(aReference())
    const goods = Array.from({ length: 12 }, (_, index) => START_MS + index)
    for (const atMs of goods) await spaces.record(aResult({ atMs }))
    await spaces.record(aResult({ ...bad, atMs: START_MS + 12 }))
    assert.equal((await only(spaces)).lastGoodAtMs, START_MS + 11)
    await spaces.record(aResult({ ...bad, reason: `${TORN}: 1 of 8`, atMs: START_MS + 13 }))
    assert.equal((await only(spaces)).lastGoodAtMs, START_MS + 4)
    // A window never becomes shorter.
    await spaces.record(aResult({ ...bad, atMs: START_MS + 14 }))
    assert.equal((await only(spaces)).lastGoodAtMs, START_MS + 4)
    await spaces.record(aResult({ atMs: START_MS + 15 }))
    const { badWindows, goodAtMs } = await only(spaces)
    assert.deepEqual(badWindows, [{ fromMs: START_MS + 4, untilMs: START_MS + 15 }])
    assert.deepEqual(goodAtMs, [])
  })

  test(`${name}: a reference keeps how far its samples were apart`, async () => {
    const { spaces } = await open()
    const imageVectors = [Float32Array.of(1, 2, 3, 4)]
    const begun = aReference({ spread: 0.0025, imageVectors, imageSpread: 0.004 })
    assert.deepEqual(await spaces.beginReference(begun), begun)
    const next = aReference({ generation: 2, spread: 0.001 })
    await spaces.replaceReference(next, { kind: 'member', name: 'ann' })
    assert.deepEqual(await spaces.references(), [{ ...next, acceptedBy: 'ann' }])
  })

  test(`${name}: what was recorded before changes nothing when it is recorded again`, async () => {
    const { spaces, database } = await open()
    await spaces.beginReference(aReference())
    const outside = aResult({ ...bad, atMs: START_MS + 1 })
    const results = [aResult(), outside, aResult({ atMs: START_MS + 2 })]
    for (const result of results) await spaces.record(result)
    const before = await only(spaces)
    await Promise.all([outside, ...results].map((result) => spaces.record(result)))
    assert.deepEqual(await only(spaces), before)
    assert.equal((await probesOf(database)).length, 3)
  })

  test(`${name}: a deployment that leads elsewhere now has a standing of its own`, async () => {
    const { spaces } = await open()
    await spaces.beginReference(aReference())
    await spaces.record(aResult())
    await spaces.record(aResult({ ...bad, target: 'elsewhere', atMs: START_MS + 1 }))
    const standings = await spaces.standings()
    const shown = standings.map(({ target, isQuarantined }) => `${target} ${isQuarantined}`).toSorted()
    assert.deepEqual(shown, ['0123abcd false', 'elsewhere true'])
  })

  test(`${name}: a probe of a space that is no longer the model's moves no standing`, async () => {
    const { spaces } = await open()
    await spaces.record(aResult(failed))
    assert.equal((await only(spaces)).space, undefined, 'judged without a reference')
    await spaces.beginReference(aReference())
    await spaces.replaceReference(aReference({ generation: 2 }), { kind: 'member', name: 'alice' })
    await spaces.record(aResult({ atMs: START_MS + 1 }))
    const late = await only(spaces)
    assert.deepEqual([late.space, late.lastGoodAtMs, late.last.atMs], [undefined, undefined, START_MS + 1])
    const space = spaceOf(MODEL, 4, 2)
    await spaces.record(aResult({ ...bad, space, atMs: START_MS + 2 }))
    const judged = await only(spaces)
    assert.deepEqual([judged.space, judged.isQuarantined], [space, true])
  })

  test(`${name}: bad windows stay few, and what lay in one always does`, async () => {
    const { spaces } = await open()
    await spaces.beginReference(aReference())
    const moments: number[] = []
    for (let round = 0; round < 20; round += 1) {
      const atMs = START_MS + round * 1000
      await spaces.record(aResult({ atMs }))
      await spaces.record(aResult({ ...bad, atMs: atMs + 500 }))
      moments.push(atMs + 100)
    }
    await spaces.record(aResult({ atMs: START_MS + 50_000 }))
    const { badWindows } = await only(spaces)
    assert.ok(badWindows.length <= 16)
    for (const moment of moments)
      assert.ok(badWindows.some(({ fromMs, untilMs }) => fromMs <= moment && moment <= untilMs))
    const last = badWindows.at(-1)
    assert.deepEqual(last, { fromMs: START_MS + 19_000, untilMs: START_MS + 50_000 })
  })

  test(`${name}: in whichever order probes come, no deployment returns by an old one, and nothing bad is forgotten`, async () => {
    const { spaces } = await open()
    await spaces.beginReference(aReference())
    let count = 0
    const measure = fc.constantFrom<Measure>('good', 'warned', 'bad', 'failed')
    const orders = fc
      .array(measure, { minLength: 1, maxLength: 7 })
      .map((all) => all.map((one, index) => ({ measure: one, atMs: START_MS + index * 1000 })))
      .chain((probes) =>
        fc.record({
          probes: fc.constant(probes),
          order: fc.shuffledSubarray(probes, { minLength: probes.length }),
        }),
      )
    await fc.assert(
      fc.asyncProperty(orders, async ({ probes, order }) => {
        count += 1
        const deployment = `${MODEL}/${count}`
        const own = async (): Promise<DeploymentStanding | undefined> =>
          (await spaces.standings()).find((standing) => standing.deployment === deployment)
        for (const { measure: each, atMs } of order)
          await spaces.record(aResult({ deployment, atMs, ...measures[each] }))
        const standing = (await own()) as DeploymentStanding
        const newest = probes.findLast((probe) => probe.measure !== 'failed')
        if (newest?.measure === 'bad') assert.equal(standing.isQuarantined, true)
        if (!probes.some((probe) => probe.measure === 'bad'))
          assert.deepEqual([standing.isQuarantined, standing.lastGoodAtMs], [false, newest?.atMs])
        assert.equal(standing.last.atMs, probes.at(-1)?.atMs)
        for (const atMs of badMoments(probes)) assert.ok(isBadThen(standing, atMs), String(atMs))
        const atMs = START_MS + 100_000
        await spaces.record(aResult({ deployment, atMs }))
        const after = (await own()) as DeploymentStanding
        assert.deepEqual([after.isQuarantined, after.lastGoodAtMs, after.last.atMs], [false, atMs, atMs])
        for (const moment of badMoments([...probes, { measure: 'good', atMs }]))
          assert.ok(isBadThen(after, moment), String(moment))
        assert.equal(isBadThen(after, atMs + 1), false)
      }),
      runs(histories),
    )
  })

  test(`${name}: standings of deployments not probed for long are deleted, bad ones later`, async () => {
    const { spaces, database } = await open()
    await spaces.beginReference(aReference())
    const [well, recovered, outside] = ['well', 'mended', 'outside'].map((one) => `${MODEL}/${one}`)
    const record = (deployment: string | undefined, overrides: Partial<ProbeResult>): Promise<void> =>
      spaces.record(aResult({ deployment: deployment ?? '', ...overrides }))
    for (const deployment of [well, recovered, outside]) await record(deployment, {})
    await record(recovered, { ...bad, atMs: START_MS + 1 })
    await record(recovered, { atMs: START_MS + 2 })
    await record(outside, { ...bad, atMs: START_MS + 3 })
    const leftAfter = async (standingsBeforeMs: number, badStandingsBeforeMs: number): Promise<unknown[]> => {
      await spaces.deleteOld({ pointsBeforeMs: 0, standingsBeforeMs, badStandingsBeforeMs })
      return (await spaces.standings()).map(({ deployment }) => deployment).toSorted()
    }
    assert.deepEqual(await leftAfter(START_MS, START_MS), [recovered, outside, well])
    assert.deepEqual(await leftAfter(START_MS + 10, START_MS), [recovered, outside])
    assert.deepEqual(await leftAfter(START_MS + 10, START_MS + 3), [outside])
    assert.deepEqual(await leftAfter(START_MS + 10, START_MS + 4), [])
    assert.equal((await probesOf(database)).length, 6)
  })

  test(`${name}: the series is of one model, newest first, as it was recorded, and old points go`, async () => {
    const { spaces, database } = await open()
    await spaces.beginReference(aReference())
    const points = Array.from({ length: 5 }, (_, index) => aResult({ atMs: START_MS + index * 1000 }))
    const broken = aResult({ ...failed, atMs: START_MS + 5000 })
    for (const point of [...points, broken]) await spaces.record(point)
    await spaces.record(aResult({ model: 'other', atMs: START_MS }))
    const newest = [...points, broken].toReversed().map((point) => ({
      at: new Date(point.atMs).toISOString(),
      deployment: point.deployment,
      space: point.space,
      verdict: point.verdict,
      cosines: point.cosines ?? null,
      least_cosine: point.leastCosine ?? null,
      norm_drift: point.normDrift ?? null,
      reason: point.reason ?? null,
    }))
    assert.deepEqual(await probesOf(database), newest)
    assert.deepEqual(await probesOf(database, MODEL, 0, 2), newest.slice(0, 2))
    assert.deepEqual(await probesOf(database, MODEL, START_MS + 4000), newest.slice(0, 2))
    const before = await spaces.standings()
    const pointsBeforeMs = START_MS + 3000
    await spaces.deleteOld({ pointsBeforeMs, standingsBeforeMs: 0, badStandingsBeforeMs: 0 })
    assert.deepEqual(await probesOf(database), newest.slice(0, 3))
    assert.deepEqual(await probesOf(database, 'other'), [])
    assert.deepEqual(await spaces.standings(), before)
  })

  test(`${name}: a slot is the worst of its probes, and a probe without an answer is no drift`, async () => {
    const { spaces, database } = await open()
    await spaces.beginReference(aReference())
    const slotMs = 10_000
    const at = (slot: number, ms: number) => Math.floor(START_MS / slotMs) * slotMs + slot * slotMs + ms
    const probes = [
      aResult({ atMs: at(0, 0), cosines: [...TEXT_COSINES, 0.997], leastCosine: 0.997, normDrift: 0.001 }),
      // As probes were before each cosine was kept.
      aResult({
        atMs: at(0, 1000),
        verdict: 'warned',
        cosines: undefined,
        leastCosine: 0.995,
        normDrift: 0.002,
      }),
      aResult({ ...failed, atMs: at(0, 2000) }),
      aResult({ ...failed, atMs: at(1, 0) }),
    ]
    for (const probe of probes) await spaces.record(probe)
    const { deployment, space } = probes[0] as (typeof probes)[number]
    const slotsSince = (sinceMs: number, limit = 10) =>
      listSlots(database, MODEL, new Date(sinceMs), slotMs / 1000, limit)
    assert.deepEqual(await slotsSince(0), [
      {
        at: new Date(at(1, 0)).toISOString(),
        deployment,
        space,
        looks: 1,
        failed: 1,
        verdict: 'failed',
        least_cosine: null,
        least_text_cosine: null,
        least_image_cosine: null,
        norm_drift: null,
      },
      {
        at: new Date(at(0, 0)).toISOString(),
        deployment,
        space,
        looks: 3,
        failed: 1,
        verdict: 'warned',
        least_cosine: 0.995,
        least_text_cosine: 0.995,
        least_image_cosine: 0.997,
        norm_drift: 0.002,
      },
    ])
    assert.equal((await slotsSince(at(1, 0))).length, 1)
    assert.equal((await slotsSince(0, 1)).length, 1)
    await spaces.record(aResult({ atMs: at(2, 0), cosines: [...TEXT_COSINES, 0.996], leastCosine: 0.996 }))
    const [newest] = await slotsSince(at(2, 0))
    assert.deepEqual([newest?.least_text_cosine, newest?.least_image_cosine], [0.9999, 0.996])
  })
}

export function databaseSpaces(open: () => Promise<DatabaseDirectory>): () => Promise<SpacesWorld> {
  return async () => {
    const { audit, database } = await open()
    await database.query(
      'TRUNCATE space_references, space_image_references, space_standings, space_probes, suspect_windows CASCADE',
    )
    return { spaces: new PostgresSpaces(database), audit, database }
  }
}
