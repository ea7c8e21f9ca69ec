import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Catalog, EmbeddingModel, SpaceFamily } from '#core/catalog/catalog.ts'
import { FAMILY_TEXTS } from '#core/embedding/family-texts.ts'
import { PROBE_TEXTS } from '#core/embedding/probe-texts.ts'
import { answeringSpace, spaceOf } from '#core/embedding/space.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { behind, Link } from '#test/support/losing-store.ts'
import { aModel } from '#test/support/models.ts'
import { seeded } from '#test/support/seeded.ts'
import { MemoryAudit } from '#test/support/stores/audit.ts'
import { MemorySpaces } from '#test/support/stores/spaces.ts'
import { SpaceFamilies } from './families.ts'
import { SpaceGuard } from './guard.ts'

const WIDTH = 32
const [LARGE, MIDDLE, SMALL] = ['large', 'middle', 'small'] as const
const FAMILY: SpaceFamily = { name: 'makers', members: [LARGE, MIDDLE, SMALL] }
const ACTOR = { kind: 'person', name: 'admin' } as never
const [MINUTE_MS, DAY_MS] = [60_000, 24 * 3_600_000]

/** The model behind a name: those of one family have a seed in common, and errors of their own. */
interface Made {
  readonly family: number
  readonly errors: number
}

function vectorsOf({ family, errors }: Made, count: number): readonly Float32Array[] {
  const random = seeded(family * 1000 + count)
  const own = seeded(errors)
  const draw = (from: () => number): Float32Array => Float32Array.from({ length: WIDTH }, () => from() - 0.5)
  const subjects = Array.from({ length: 10 }, () => draw(random))
  return Array.from({ length: count }, (_, text) => {
    const [subject, rest, error] = [subjects[text >> 2] as Float32Array, draw(random), draw(own)]
    return subject.map((value, at) => value + 0.7 * rest[at]! + 0.15 * error[at]!)
  })
}

function catalogOf(family: SpaceFamily | undefined, width = WIDTH): Catalog {
  const models = [LARGE, MIDDLE, SMALL].map((id) => {
    const facts = { ...aModel().facts, dimensions: width }
    const deployments = [aDeployment({ id: `${id}/one`, upstream: { name: id } })]
    const declared = family?.members.includes(id) ? { family } : {}
    return aModel({ id, deployments, facts, isGuarded: true, ...declared })
  })
  return { models: new Map(models.map((model) => [model.id, model])), retired: new Map(), projects: [] }
}

function world(made: Record<string, Made | 'unreachable'>) {
  let nowMs = Date.UTC(2026, 10, 20)
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs - 12_345 }
  const store = new MemorySpaces(new MemoryAudit(clock))
  const answers = new Map(Object.entries(made))
  const answered = (id: string, count: number): readonly Float32Array[] => {
    const model = answers.get(id)
    if (model === undefined || model === 'unreachable') throw new Error('no answer at all')
    return vectorsOf(model, count)
  }
  const node = ({
    family = FAMILY,
    isProber = true,
  }: { readonly family?: SpaceFamily | null; readonly isProber?: boolean } = {}) => {
    const [link, alerts, asked, troubles] = [new Link(), [] as string[], [] as string[], [] as unknown[]]
    const state = { catalog: catalogOf(family ?? undefined) }
    const shared = {
      store: behind(link, store),
      catalog: () => state.catalog,
      clock,
      isProber: async () => isProber,
      onTrouble: (error: unknown) => void troubles.push(error),
    }
    const guard = new SpaceGuard({
      ...shared,
      probe: async ({ id }) => ({ texts: answered(id, PROBE_TEXTS.length) }),
      onStanding: () => {},
      onAlert: () => {},
    })
    const families = new SpaceFamilies({
      ...shared,
      guard,
      ask: async ({ id }) => {
        asked.push(id)
        return answered(id, FAMILY_TEXTS.length)
      },
      onAlert: ({ kind, model }) => void alerts.push(`${model} ${kind}`),
    })
    const model = (id: string): EmbeddingModel => state.catalog.models.get(id) as EmbeddingModel
    return {
      link,
      alerts,
      asked,
      troubles,
      state,
      guard,
      families,
      model,
      /** What the loops of a node do. */
      async turn() {
        await guard.follow(true).catch(shared.onTrouble)
        await families.follow().catch(shared.onTrouble)
        await guard.probeDue().catch(shared.onTrouble)
        // The second round compares those for which the family had no space before.
        for (let round = 0; round < 2; round += 1) await families.compareDue().catch(shared.onTrouble)
      },
      joined: () => [LARGE, MIDDLE, SMALL].filter((id) => families.joinedBy(id) !== undefined),
      generation: () => families.joinedBy(LARGE)?.generation ?? families.joinedBy(SMALL)?.generation,
      /** A minute later, since probes of one moment count once. */
      async accept(id: string) {
        nowMs += MINUTE_MS
        await guard.accept(model(id), model(id).deployments[0]!, ACTOR)
      },
    }
  }
  return { store, clock, answers, node, passes: (ms: number) => void (nowMs += ms) }
}

const TRUE_FAMILY = {
  [LARGE]: { family: 1, errors: 11 },
  [MIDDLE]: { family: 1, errors: 12 },
  [SMALL]: { family: 1, errors: 13 },
}

test('members whose vectors agree join, and a stranger of the same width never does', async () => {
  const one = world({ ...TRUE_FAMILY, [MIDDLE]: { family: 2, errors: 12 } }).node()
  await one.turn()
  assert.deepEqual(one.joined(), [LARGE, SMALL])
  assert.deepEqual(one.alerts, ['large begun', 'middle refused', 'small joined'])
  const { state, last } = one.families.standingOf(one.model(MIDDLE)) ?? assert.fail()
  assert.equal(state, 'outside')
  assert.match(
    last?.reason ?? '',
    /^compared with (large|small), neighbours come in another order: agreement -?0\./,
  )
  assert.equal(one.families.standingOf(one.model(LARGE))?.isReference, true)
})

test('until the first listed member has begun the space, no other joins', async () => {
  const place = world({ ...TRUE_FAMILY, [LARGE]: 'unreachable' })
  const one = place.node()
  await one.turn()
  assert.deepEqual([one.joined(), one.asked], [[], []])
  assert.equal(one.families.standingOf(one.model(SMALL))?.state, 'waiting')
  place.answers.set(LARGE, TRUE_FAMILY[LARGE])
  place.passes(MINUTE_MS)
  await one.turn()
  assert.deepEqual(one.joined(), [LARGE, MIDDLE, SMALL])
})

test('every node follows what one node has compared, also after a restart and while the store is unreachable', async () => {
  const place = world(TRUE_FAMILY)
  const [prober, other] = [place.node(), place.node({ isProber: false })]
  await prober.turn()
  await other.turn()
  assert.deepEqual([other.joined(), other.asked], [[LARGE, MIDDLE, SMALL], []])
  assert.deepEqual(other.families.joinedBy(SMALL), prober.families.joinedBy(SMALL))
  other.link.otherwise = 'before'
  await other.turn()
  assert.deepEqual(other.joined(), [LARGE, MIDDLE, SMALL], 'it knows what it knew')
  const restarted = place.node({ isProber: false })
  restarted.link.otherwise = 'before'
  assert.equal(restarted.families.hasRead, false)
  await assert.rejects(restarted.families.follow(), StoreUnreachable)
  assert.deepEqual([restarted.joined(), restarted.families.hasRead], [[], false])
  restarted.link.otherwise = 'none'
  await restarted.turn()
  assert.deepEqual([restarted.joined(), restarted.asked], [[LARGE, MIDDLE, SMALL], []])
})

test('a node without families asks the store nothing and knows everything', async () => {
  const one = world(TRUE_FAMILY).node({ family: null })
  one.link.otherwise = 'before'
  await one.families.follow()
  assert.equal(one.families.hasRead, true)
})

test('a member whose space is accepted again leaves at once, and returns only if it agrees with all that ever joined', async () => {
  const place = world(TRUE_FAMILY)
  const one = place.node()
  await one.turn()
  const before = one.families.joinedBy(LARGE)
  // Another model of the same family: outside of the member's own space, within the family's.
  place.answers.set(SMALL, { family: 1, errors: 99 })
  await one.accept(SMALL)
  assert.deepEqual(one.joined(), [LARGE, MIDDLE])
  place.passes(MINUTE_MS)
  await one.turn()
  assert.deepEqual(one.joined(), [LARGE, MIDDLE, SMALL])
  assert.deepEqual(one.families.joinedBy(SMALL), before, 'the name is the same')
  place.answers.set(SMALL, { family: 3, errors: 13 })
  await one.accept(SMALL)
  place.passes(MINUTE_MS)
  await one.turn()
  assert.deepEqual(one.joined(), [LARGE, MIDDLE])
  assert.deepEqual(one.families.joinedBy(LARGE), before, 'others are not affected')
  assert.deepEqual(one.alerts.slice(3), ['small joined', 'small refused'])
})

test('when the space of the first member is replaced by one that disagrees, the family begins another space', async () => {
  const place = world(TRUE_FAMILY)
  const one = place.node()
  await one.turn()
  assert.equal(one.generation(), 1)
  place.answers.set(LARGE, { family: 5, errors: 11 })
  await one.accept(LARGE)
  assert.deepEqual(one.joined(), [MIDDLE, SMALL], 'those that have not changed stay')
  place.passes(MINUTE_MS)
  await one.turn()
  assert.deepEqual(one.joined(), [LARGE])
  assert.deepEqual(one.families.joinedBy(LARGE), { name: FAMILY.name, generation: 2 })
  assert.equal(one.families.standingOf(one.model(SMALL))?.state, 'outside')
})

test('a member that is compared again and no longer agrees leaves, and returns when it agrees', async () => {
  const place = world(TRUE_FAMILY)
  const one = place.node()
  await one.turn()
  const before = one.families.joinedBy(SMALL)
  const ask = one.asked.length
  place.passes(DAY_MS - MINUTE_MS)
  await one.families.compareDue()
  assert.equal(one.asked.length, ask, 'not before a day is over')
  // Probes would quarantine it; without them only the comparison can notice.
  place.answers.set(SMALL, { family: 7, errors: 13 })
  place.passes(2 * MINUTE_MS)
  await one.families.compareDue()
  assert.deepEqual(one.joined(), [LARGE, MIDDLE])
  assert.equal(one.alerts.at(-1), 'small left')
  place.answers.set(SMALL, TRUE_FAMILY[SMALL])
  place.passes(DAY_MS)
  await one.families.compareDue()
  assert.deepEqual([one.joined(), one.families.joinedBy(SMALL)], [[LARGE, MIDDLE, SMALL], before])
})

test('a quarantined member is not compared: its own space comes first', async () => {
  const place = world(TRUE_FAMILY)
  const one = place.node()
  await one.turn()
  place.answers.set(SMALL, { family: 7, errors: 13 })
  place.passes(MINUTE_MS)
  await one.guard.probeNow(SMALL)
  const asked = one.asked.length
  place.passes(DAY_MS)
  await one.families.compareDue()
  assert.equal(one.asked.slice(asked).includes(SMALL), false)
})

test('a model that is no member any more answers in its own space, and a family without its first member begins again', async () => {
  const place = world(TRUE_FAMILY)
  const one = place.node()
  await one.turn()
  one.state.catalog = catalogOf({ ...FAMILY, members: [MIDDLE, SMALL] })
  assert.deepEqual(one.joined(), [MIDDLE, SMALL])
  place.passes(DAY_MS)
  await one.turn()
  assert.deepEqual(one.joined(), [MIDDLE, SMALL])
  assert.deepEqual(one.families.joinedBy(SMALL), { name: FAMILY.name, generation: 2 })
})

test('what was compared with fewer witnesses than there are is compared again', async () => {
  const place = world(TRUE_FAMILY)
  const [one, other] = [place.node(), place.node()]
  await one.turn()
  const member = (await place.store.familyMembers()).find(({ model }) => model === SMALL)
  const stranger = vectorsOf({ family: 9, errors: 1 }, FAMILY_TEXTS.length)
  await place.store.recordMember({ ...member!, modelGeneration: 8 }, stranger, 1)
  await place.store.recordMember({ ...member!, modelGeneration: 8, generation: 4 }, stranger, 3)
  await place.store.beginFamily({ ...member!, generation: 3 }, stranger)
  await other.turn()
  assert.deepEqual(other.joined(), [LARGE, MIDDLE, SMALL])
  assert.equal((await place.store.familyMembers()).length, 3)
})

test('vectors under the name of a family have left it once their model or the family has', async () => {
  const place = world(TRUE_FAMILY)
  const one = place.node()
  const nowMs = place.clock.nowMs()
  await one.turn()
  const joined = one.families.joinedBy(SMALL)
  const made = (space: string) => ({ space, deployment: 'small/one', fromMs: nowMs, untilMs: nowMs })
  const named = answeringSpace(SMALL, WIDTH, 1, joined)
  const hasLeft = (space: string): boolean => one.families.hasLeft(made(space))
  assert.deepEqual([named, spaceOf(SMALL, WIDTH), `${named}/binary:gt0`].map(hasLeft), [false, false, false])
  assert.equal(hasLeft(answeringSpace(SMALL, WIDTH, 1, { name: FAMILY.name, generation: 2 })), true)
  place.answers.set(SMALL, { family: 7, errors: 13 })
  place.passes(DAY_MS)
  await one.families.compareDue()
  assert.deepEqual([hasLeft(named), hasLeft(spaceOf(SMALL, WIDTH))], [true, false])
})
