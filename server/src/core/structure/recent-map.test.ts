import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RecentMap } from './recent-map.ts'

test('whatever is set, used and deleted, the map holds no more than its bound, and no value that was not set last', () => {
  const step = fc.record({ what: fc.constantFrom('set', 'get', 'delete', 'deleteWhere'), key: fc.nat(12) })
  const runs = fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const map = new RecentMap<number, { readonly at: number }>(8)
    const model = new Map<number, number>()
    for (const [at, { what, key }] of steps.entries()) {
      if (what === 'set') {
        map.set(key, { at })
        model.set(key, at)
      }
      if (what === 'delete') {
        map.delete(key)
        model.delete(key)
      }
      if (what === 'deleteWhere') {
        map.deleteWhere((value) => value.at % 3 === 0)
        for (const [one, setAt] of model) if (setAt % 3 === 0) model.delete(one)
      }
      const found = map.get(key)
      if (found !== undefined) assert.equal(found.at, model.get(key))
      if (what === 'set') assert.equal(found?.at, at)
      assert.ok(map.size <= 8)
    }
  })
  fc.assert(runs)
})

test('an entry in steady use stays, however many others come', () => {
  const map = new RecentMap<string, number>(10)
  map.set('hot', 1)
  for (let other = 0; other < 1000; other += 1) {
    map.set(`other ${other}`, other)
    assert.equal(map.get('hot'), 1)
  }
})
