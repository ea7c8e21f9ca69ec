/** The routes about vector spaces, and the command that uses them. Permissions are tested with the API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spaces as spacesCommand } from '#cli/commands/spaces.ts'
import type { Catalog, Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import { PROBE_TEXTS } from '#core/embedding/probe-texts.ts'
import { spaceOf } from '#core/embedding/space.ts'
import { registerSpaces } from '#control/spaces/routes.ts'
import { RequestTrace } from '#core/request/request-trace.ts'
import { PostgresSpaces } from '#stores/postgres/spaces.ts'
import { LEDGER_NOW_MS, postgresStores } from '#test/support/ledger-stores.ts'
import { outcome } from '#test/support/command-outcome.ts'
import { startScope } from '#test/support/control-scope.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { assertFault } from '#test/support/errors.ts'
import { aModel } from '#test/support/models.ts'
import { seeded } from '#test/support/seeded.ts'
import { SpaceGuard } from '#worker/spaces/guard.ts'

const MODEL = 'maker/embed'
const ONE = `${MODEL}/one`
const TWO = `${MODEL}/two`

const open = postgresStores()

interface Pin {
  readonly key: string
  readonly space: string
  readonly requests: number
}

interface Given {
  readonly isGuarded?: boolean
  readonly hasRead?: boolean
  /** Requests that name a space. */
  readonly pins?: readonly Pin[]
}

let worlds = 0

/** Two deployments that answer by their seed, or not at all. */
async function world(
  seeds: Record<string, number | undefined>,
  { isGuarded = true, hasRead = true, pins = [] }: Given = {},
) {
  worlds += 1
  const own = worlds
  const { database, audit, requests, identifiers } = await open()
  let nowMs = LEDGER_NOW_MS
  const clock = { nowMs: () => (nowMs += 1000), monotonicMs: () => nowMs }
  const pinned = pins.flatMap((pin) => Array.from({ length: pin.requests }, () => pin))
  await requests.append(
    pinned.map(({ key, space }) => ({
      requestId: identifiers.next(),
      route: '/v1/embeddings',
      status: 200,
      project: key.slice(0, key.indexOf('/')),
      keyId: key,
      model: MODEL,
      inputs: 1,
      durationMs: 1,
      trace: Object.assign(new RequestTrace(0), { space, isPinned: true }),
    })),
  )
  const deployments = [ONE, TWO].map((id) => aDeployment({ id, upstream: { name: id } }))
  const model = aModel({ id: MODEL, aliases: ['short'], deployments, isGuarded })
  const catalog: Catalog = {
    models: new Map([
      [MODEL, model],
      ['short', model],
    ]),
    retired: new Map(),
    projects: [],
  }
  const store = new PostgresSpaces(database)
  const guard = new SpaceGuard({
    store,
    catalog: () => catalog,
    clock,
    isProber: async () => true,
    probe: async (_model: EmbeddingModel, { id }: Deployment) => {
      const seed = seeds[id]
      if (seed === undefined) throw new Error('it is away')
      const random = seeded(seed)
      return { texts: PROBE_TEXTS.map(() => Float32Array.from({ length: 8 }, () => random() - 0.5)) }
    },
    onStanding: () => {},
    onAlert: () => {},
    // The next world has emptied the tables under a guard that still works.
    onTrouble: (error) => void (own === worlds && assert.fail(String(error))),
  })
  if (hasRead) {
    await guard.follow()
    await guard.probeDue()
  }
  const ask = await startScope((api) =>
    registerSpaces(api, { catalog: () => catalog, reports: database, spaceGuard: guard, clock }),
  )
  const torana = (args: string) => outcome(spacesCommand, args, ask.url)
  return { ask, torana, guard, audit, seeds }
}

const PATH = `/spaces/${encodeURIComponent(MODEL)}`

interface Probe {
  readonly at: string
  readonly deployment: string
  readonly space: string
  readonly verdict: string
  readonly least_cosine: number | null
  readonly reason: string | null
}

interface Space {
  readonly model: string
  readonly space: string
  readonly generation: number
  readonly width: number
  readonly reference: { readonly deployment: string; readonly accepted_by: string | null } | null
  readonly pinned_by: readonly { readonly key: string; readonly requests_24h: number }[] | null
  readonly deployments: readonly {
    readonly deployment: string
    readonly state: string
    readonly last_good_at: string | null
    readonly last_probe: Probe | null
  }[]
}

interface List<Item> {
  readonly data: readonly Item[]
  readonly has_more: boolean
}

test('spaces are listed once for each model, with how every deployment stands', async () => {
  const { ask } = await world({ [ONE]: 1, [TWO]: 2 })
  const { status, body } = await ask<List<Space>>('GET', '/spaces')
  assert.equal(status, 200)
  assert.equal(body.data.length, 1)
  const [listed] = body.data as [Space]
  assert.deepEqual(
    [listed.model, listed.space, listed.generation, listed.width, listed.reference?.deployment],
    [MODEL, spaceOf(MODEL, 8), 1, 8, ONE],
  )
  assert.deepEqual(
    listed.deployments.map(({ deployment, state, last_probe: last }) => [deployment, state, last?.verdict]),
    [
      [ONE, 'trusted', 'good'],
      [TWO, 'quarantined', 'quarantined'],
    ],
  )
  assert.equal(listed.deployments[1]?.last_good_at, null)
  assert.equal(listed.reference?.accepted_by, null, 'the first is accepted without a person')
  assert.deepEqual(listed.pinned_by, [])
})

test('a space names the keys that pin it, at any width, and none of those that pin another', async () => {
  const pins = [
    { key: 'search/website', space: spaceOf(MODEL, 8), requests: 5 },
    { key: 'docs/bot', space: spaceOf(MODEL, 4), requests: 3 },
    { key: 'docs/bot', space: spaceOf(MODEL, 8), requests: 3 },
    { key: 'ads/old', space: spaceOf(MODEL, 8, 2), requests: 9 },
    { key: 'ads/other', space: spaceOf('maker/other', 8), requests: 9 },
  ]
  const { ask } = await world({ [ONE]: 1, [TWO]: 2 }, { pins })
  const { body } = await ask<List<Space>>('GET', '/spaces')
  assert.deepEqual(body.data[0]?.pinned_by, [
    { key: 'docs/bot', requests_24h: 6 },
    { key: 'search/website', requests_24h: 5 },
  ])
  const { body: accepted } = await ask<Space>('POST', `${PATH}/accept`, { deployment: TWO })
  assert.deepEqual(accepted.pinned_by, [])
})

test('the series is newest first, from a moment on, and says when there is more', async () => {
  const { ask, guard } = await world({ [ONE]: 1, [TWO]: undefined })
  await guard.probeNow(MODEL)
  const all = (await ask<List<Probe>>('GET', `${PATH}/series`)).body
  assert.deepEqual([all.data.length, all.has_more], [4, false])
  const times = all.data.map(({ at }) => at)
  assert.deepEqual(times, times.toSorted().toReversed())
  const failed = all.data.find(({ verdict }) => verdict === 'failed')
  assert.deepEqual([failed?.deployment, failed?.least_cosine, failed?.reason], [TWO, null, 'it is away'])
  const some = (await ask<List<Probe>>('GET', `/spaces/short/series?limit=2&since=${times[2]}`)).body
  assert.deepEqual([some.data, some.has_more], [all.data.slice(0, 2), true])
  for (const query of ['limit=0', 'limit=10001', 'limit=x', 'since=yesterday'])
    assertFault(await ask('GET', `${PATH}/series?${query}`), 'invalid_parameter')
  assertFault(await ask('GET', '/spaces/missing/series'), 'not_found', {
    words: /no embedding model missing/,
  })
})

test('another space is accepted, gets another id, and stands in the audit', async () => {
  const { ask, audit, guard } = await world({ [ONE]: 1, [TWO]: 2 })
  const { status, body } = await ask<Space>('POST', `${PATH}/accept`, { deployment: TWO })
  assert.equal(status, 200)
  assert.deepEqual([body.generation, body.space], [2, spaceOf(MODEL, 8, 2)])
  assert.equal(body.reference?.accepted_by, 'tester')
  assert.equal(guard.standingOf(TWO)?.state, 'trusted')
  const [entry] = await audit.list({ limit: 1 })
  assert.deepEqual([entry?.actor, entry?.action, entry?.target], ['tester', 'space.accept', MODEL])
})

test('what can not be accepted is refused, and changes nothing', async () => {
  const { ask, audit, seeds } = await world({ [ONE]: 1, [TWO]: 1 })
  const accept = (body: unknown, model = PATH) => ask('POST', `${model}/accept`, body)
  assertFault(await accept({ deployment: TWO }), 'conflict', { words: /nothing to accept/ })
  seeds[TWO] = undefined
  assertFault(await accept({ deployment: TWO }), 'conflict', { words: /its probe failed \(it is away\)/ })
  assertFault(await accept({ deployment: 'three' }), 'invalid_parameter', {
    param: 'deployment',
    words: /one, maker/,
  })
  assertFault(await accept({}), 'invalid_parameter', { param: 'deployment' })
  assertFault(await accept({ deployment: TWO, force: true }), 'invalid_parameter')
  assertFault(await accept({ deployment: TWO }, '/spaces/missing'), 'not_found')
  assert.deepEqual(await audit.list({ limit: 10 }), [])
})

test('a model without a guard is listed as such, is not probed, and nothing of it is accepted', async () => {
  const { ask, torana, audit } = await world({ [ONE]: 1, [TWO]: 2 }, { isGuarded: false })
  await ask('GET', '/spaces').then(({ body }) => {
    const [listed] = (body as unknown as List<Space & { readonly guarded: boolean }>).data
    assert.deepEqual(
      [listed?.guarded, listed?.deployments.map(({ state }) => state)],
      [false, ['unguarded', 'unguarded']],
    )
  })
  assertFault(await ask('POST', `${PATH}/accept`, { deployment: TWO }), 'conflict', {
    words: /space guard is off/,
  })
  assertFault(await ask('POST', `${PATH}/probe`), 'conflict', { words: /space guard is off/ })
  assert.deepEqual(await audit.list({ limit: 10 }), [])
  assert.match((await torana('')).stdout, /^maker\/embed .*\/two +unguarded/m)
  const probed = await torana('probe')
  assert.deepEqual([probed.code, probed.stdout], [0, 'No embedding model has the space guard on.\n'])
  assert.equal((await torana(`probe ${MODEL}`)).code, 1)
})

test('before the store was read nothing is said of spaces', async () => {
  const { ask } = await world({ [ONE]: 1, [TWO]: 1 }, { hasRead: false })
  assertFault(await ask('GET', '/spaces'), 'store_unreachable')
})

test('torana spaces lists, probes and accepts', async () => {
  const { torana, seeds } = await world({ [ONE]: 1, [TWO]: 1 })
  const listed = await torana('')
  assert.equal(listed.code, 0, listed.stderr)
  assert.match(
    listed.stdout,
    /^maker\/embed +maker\/embed@8:[0-9a-f]{8} +maker\/embed\/one +trusted +1\.000000 /m,
  )
  assert.equal((await torana('probe')).code, 0)
  seeds[TWO] = 2
  const probed = await torana(`probe ${MODEL}`)
  assert.equal(probed.code, 1)
  assert.match(probed.stdout, /^maker\/embed\/two +quarantined +-?0\.\d{6} .*another space/m)
  const accepted = await torana(`accept ${MODEL} ${TWO}`)
  assert.deepEqual([accepted.code, accepted.stderr.includes(spaceOf(MODEL, 8, 2))], [0, true])
  assert.match((await torana('list')).stdout, /^maker\/embed .*\/two +trusted/m)
  const json = JSON.parse((await torana('list --json')).stdout) as readonly Space[]
  assert.equal(json[0]?.generation, 2)
})

test('torana spaces says what is wrong', async () => {
  const { torana } = await world({ [ONE]: 1, [TWO]: 1 })
  for (const args of ['accept', `accept ${MODEL}`, 'probe a b', 'list a', 'drop', '--nothing']) {
    const { code, stderr } = await torana(args)
    assert.equal(code, 2, args)
    assert.match(stderr, /^torana spaces.*\nSee torana spaces/)
  }
  assert.equal((await torana('--help')).code, 0)
  const refused = await torana(`accept ${MODEL} ${ONE}`)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^torana spaces accept: .*nothing to accept/)
})
