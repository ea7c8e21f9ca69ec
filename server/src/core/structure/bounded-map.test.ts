import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BoundedMap } from './bounded-map.ts'

const step = fc.oneof(
  fc.record({ what: fc.constant('set' as const), key: fc.nat(12), value: fc.nat() }),
  fc.record({ what: fc.constant('add' as const), key: fc.nat(12), value: fc.nat() }),
  fc.record({ what: fc.constant('delete' as const), key: fc.nat(12) }),
)

test('a bounded map holds the newest entries, oldest first, whatever is set and deleted', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 60 }), (most, steps) => {
      const bounded = new BoundedMap<number, number>(most)
      const plain = new Map<number, number>()
      for (const one of steps) {
        const wasThere = plain.has(one.key)
        if (one.what === 'add') assert.equal(bounded.add(one.key, one.value), !wasThere)
        else plain.delete(one.key)
        if (one.what === 'delete') assert.equal(bounded.delete(one.key), wasThere)
        else if (one.what === 'set') bounded.set(one.key, one.value)
        if (one.what !== 'delete' && !plain.has(one.key)) plain.set(one.key, one.value)
        for (const oldest of [...plain.keys()].slice(0, Math.max(0, plain.size - most))) plain.delete(oldest)
        assert.equal(bounded.size, plain.size)
        assert.deepEqual([...bounded.values()], [...plain.values()])
        for (const key of Array.from({ length: 13 }).keys()) {
          assert.equal(bounded.has(key), plain.has(key))
          assert.equal(bounded.get(key), plain.get(key))
        }
      }
    }),
  )
})
