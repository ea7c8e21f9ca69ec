import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '#core/catalog/model-end.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { ListedModels } from '#ports/model-listing.ts'
import { catalogOf } from '#test/support/config.ts'
import { MemoryModelEnds } from '#test/support/stores/model-ends.ts'
import { EndWatch } from './end-watch.ts'

const CONFIG = `
upstreams: { one: { dialect: openai, baseUrl: 'https://one.example/v1' } }
models:
  ending: { kind: image, deployments: [{ upstream: one, endsOn: 2026-12-01, successor: next }] }
  listed: { kind: image, deployments: [{ upstream: one, model: theirs }] }
`
const END_MS = Date.UTC(2026, 11, 1)
const NOTHING: ListedModels = { kind: 'listed', ids: [], ends: new Map(), unreadEnds: [] }

function world(store = new MemoryModelEnds()) {
  const state = {
    nowMs: END_MS - 100 * DAY_MS,
    monotonicMs: 0,
    isLeader: true,
    list: NOTHING as ListedModels | UpstreamFailure,
    asked: 0,
  }
  const said: string[] = []
  const start = (config = CONFIG) => {
    const catalog = catalogOf(config)
    return new EndWatch({
      store,
      listing: {
        async list() {
          state.asked += 1
          if (state.list instanceof UpstreamFailure) throw state.list
          return state.list
        },
      },
      clock: { nowMs: () => state.nowMs, monotonicMs: () => state.monotonicMs },
      catalog: () => catalog,
      isLeader: async () => state.isLeader,
      eventsFor: ({ model }, days, project) => [
        { id: `${model} ${days}`, project, url: 'https://hook', type: 'model.ending', payload: '' },
      ],
      events: {
        listed: ({ ends, unread }) => void said.push(`listed ${JSON.stringify(ends)} ${unread.join()}`),
        notListed: (upstream) => void said.push(`not listed ${upstream}`),
        noticed: ({ model, on }, days, projects) =>
          void said.push(`${model} ${on} in ${days}: ${projects.join()}`),
      },
      random: () => 0,
    })
  }
  let watch = start()
  return {
    state,
    store,
    said,
    restart: (config?: string) => void (watch = start(config)),
    /** A check at a time before the end, long after the one before. */
    at: async (daysLeft: number) => {
      state.nowMs = END_MS - daysLeft * DAY_MS
      state.monotonicMs += 3_600_000
      await watch.check()
      return said.splice(0)
    },
  }
}

test('each notice goes out once, on its day, to the projects that use the model', async () => {
  const { at, store, restart } = world()
  store.users.set('ending', ['ads', 'search'])
  const notices = new Map<number, readonly string[]>()
  for (let days = 95; days >= -3; days -= 0.5) {
    // Every node that is the leader for a while starts without memory.
    if (days % 2 === 0) restart()
    const said = await at(days)
    if (said.length > 0) notices.set(days, said)
  }
  assert.deepEqual(
    [...notices],
    [90, 30, 14, 7, 1].map((days) => [days, [`ending 2026-12-01 in ${days}: ads,search`]]),
  )
  assert.deepEqual(
    store.sent.map(({ days, events }) => [days, events.map(({ project }) => project)]),
    [90, 30, 14, 7, 1].map((days) => [days, ['ads', 'search']]),
  )
})

test('of missed notices only the nearest is sent, late and once', async () => {
  const { at, store } = world()
  store.users.set('ending', ['ads'])
  assert.deepEqual(await at(20), ['ending 2026-12-01 in 30: ads'])
  assert.deepEqual(await at(6), ['ending 2026-12-01 in 7: ads'])
  assert.deepEqual(await at(-2), ['ending 2026-12-01 in 1: ads'])
  assert.deepEqual(await at(-20), [])
})

test('a clock that is set back and forth repeats no notice', async () => {
  const { at, store } = world()
  store.users.set('ending', ['ads'])
  for (const days of [90, 30, 14]) assert.equal((await at(days)).length, 1)
  for (const days of [40, 95, 14, 31, 13, 90]) assert.deepEqual(await at(days), [])
  assert.deepEqual(await at(7), ['ending 2026-12-01 in 7: ads'])
})

test('a notice waits until a project uses the model', async () => {
  const { at, store } = world()
  assert.deepEqual(await at(30), [])
  store.users.set('ending', ['late'])
  assert.deepEqual(await at(25), ['ending 2026-12-01 in 30: late'])
})

test('another day is another end, with its own notices', async () => {
  const { at, store, restart } = world()
  store.users.set('ending', ['ads'])
  assert.deepEqual(await at(30), ['ending 2026-12-01 in 30: ads'])
  restart(CONFIG.replace('2026-12-01', '2027-03-01'))
  assert.deepEqual(await at(29), [])
  assert.deepEqual(await at(0), ['ending 2027-03-01 in 90: ads'])
})

test('a node that is not the leader asks no upstream and sends nothing', async () => {
  const { at, store, state } = world()
  store.users.set('ending', ['ads'])
  state.isLeader = false
  assert.deepEqual(await at(1), [])
  assert.equal(state.asked, 0)
})

test('an upstream is asked once a day, not at once after a start, and again when the clock was set back', async () => {
  const { at, state, restart } = world()
  await at(100)
  assert.equal(state.asked, 1)
  await at(99.5)
  restart()
  state.monotonicMs -= 3_600_000
  await at(99)
  assert.equal(state.asked, 1, 'a node that just started serves first')
  await at(99)
  assert.equal(state.asked, 2)
  await at(99.2)
  assert.equal(state.asked, 3, 'the last list is from the future')
  await at(99.2)
  assert.equal(state.asked, 3)
})

test('the day that an upstream lists is kept, and announced by itself', async () => {
  const { at, state, store } = world()
  store.users.set('listed', ['ads'])
  state.list = {
    ...NOTHING,
    ends: new Map([
      ['theirs', '2026-11-01'],
      ['not deployed', '2026-11-01'],
    ]),
    unreadEnds: ['ending'],
  }
  assert.deepEqual(await at(100), ['listed {"theirs":"2026-11-01"} ending', 'listed 2026-11-01 in 90: ads'])
  const [kept] = await store.listings()
  assert.deepEqual(kept, {
    upstream: 'one',
    address: 'https://one.example/v1',
    readAt: '2026-08-23T00:00:00.000Z',
    ends: { theirs: '2026-11-01', 'not deployed': '2026-11-01' },
  })
  state.list = { ...state.list, unreadEnds: [] }
  assert.deepEqual(await at(98), [], 'the same list is no news')
  state.list = { ...NOTHING, unreadEnds: ['theirs', 'not deployed'] }
  assert.deepEqual(
    await at(96),
    ['listed {"theirs":"2026-11-01"} theirs'],
    'an unreadable day takes none back',
  )
  state.list = NOTHING
  assert.deepEqual(await at(94), ['listed {} '])
})

test('a list that fails is asked for again in an hour, is reported once, and keeps the last days', async () => {
  const { at, state, store } = world()
  state.list = { ...NOTHING, ends: new Map([['theirs', '2027-11-01']]) }
  await at(100)
  state.list = new UpstreamFailure('failed', 'out of order', { deployment: 'one' })
  assert.deepEqual(await at(98), ['not listed one'])
  assert.equal(state.asked, 2)
  state.monotonicMs -= 3_600_000
  await at(97.9)
  assert.equal(state.asked, 2, 'too soon')
  assert.deepEqual(await at(97.8), [])
  assert.equal(state.asked, 3)
  assert.deepEqual((await store.listings())[0]?.ends, { theirs: '2027-11-01' })
  state.list = { ...NOTHING, ends: new Map([['theirs', '2027-11-01']]) }
  assert.deepEqual(await at(97.7), [])
  assert.equal(state.asked, 4)
})
