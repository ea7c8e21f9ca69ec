import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differences, isSame, merged, valueAt, withValue } from './entry.ts'

test('a value is set at a path, and an object that becomes empty goes with its last value', () => {
  for (const [entry, path, value, expected] of [
    [{}, ['weight'], 2, { weight: 2 }],
    [{ weight: 1, upstream: 'a' }, ['weight'], 3, { weight: 3, upstream: 'a' }],
    [{}, ['limits', 'concurrency'], 8, { limits: { concurrency: 8 } }],
    [{ limits: { concurrency: 8 } }, ['limits', 'concurrency'], undefined, {}],
    [
      { limits: { concurrency: 8, requestsPerMinute: 5 } },
      ['limits', 'concurrency'],
      undefined,
      { limits: { requestsPerMinute: 5 } },
    ],
  ] as const) {
    const made = withValue(entry, path, value)
    assert.deepEqual(made, expected)
    assert.equal(valueAt(made, path), value)
  }
  assert.deepEqual(Object.keys(withValue({ weight: 1, upstream: 'a' }, ['weight'], 3)), [
    'weight',
    'upstream',
  ])
})

test('changes are counted by field; deployments are matched by upstream and model', () => {
  const gpu = (more: object = {}) => ({ upstream: 'gpu', ...more })
  const own = (more: object = {}) => ({ upstream: 'own', ...more })
  for (const [before, after, count] of [
    [{}, {}, 0],
    [{ cache: { ttl: '12h' } }, { cache: { ttl: '30d' } }, 1],
    [{ aliases: ['a'] }, { aliases: ['a', 'b'] }, 1],
    [{ deployments: [gpu({ weight: 50 })] }, { deployments: [gpu({ weight: 70, price: 'free' })] }, 2],
    [{ deployments: [gpu()] }, { deployments: [gpu(), own()] }, 1],
    [{ deployments: [gpu(), own()] }, { deployments: [own(), gpu()] }, 1],
    [{ deployments: [gpu(), own()] }, { deployments: [own({ weight: 2 }), gpu()] }, 1],
    [null, { deployments: [gpu()] }, 1],
  ] as const)
    assert.equal(differences(before, after), count, JSON.stringify([before, after]))
})

test('two people who change different fields keep both; of the same field mine is kept', () => {
  const base = {
    aliases: ['a'],
    deployments: [
      { upstream: 'one', weight: 50 },
      { upstream: 'two', weight: 50 },
    ],
  }
  const mine = {
    ...base,
    deployments: [
      { upstream: 'one', weight: 70 },
      { upstream: 'two', weight: 30 },
    ],
  }
  const theirs = {
    aliases: ['a', 'b'],
    deployments: [
      { upstream: 'two', weight: 40, limits: { concurrency: 8 } },
      { upstream: 'one', weight: 50 },
      { upstream: 'three' },
    ],
  }
  assert.deepEqual(merged(base, mine, theirs), {
    aliases: ['a', 'b'],
    deployments: [
      { upstream: 'one', weight: 70 },
      { upstream: 'two', weight: 30, limits: { concurrency: 8 } },
      { upstream: 'three' },
    ],
  })
})

test('a deployment that they removed stays removed unless I changed it', () => {
  const [one, two] = [{ upstream: 'one' }, { upstream: 'two' }]
  const theirs = { deployments: [two] }
  const base = { deployments: [one, two] }
  assert.deepEqual(merged(base, { deployments: [one, { ...two, weight: 2 }] }, theirs), {
    deployments: [{ ...two, weight: 2 }],
  })
  assert.deepEqual(merged(base, { deployments: [{ ...one, weight: 2 }, two] }, theirs), {
    deployments: [{ ...one, weight: 2 }, two],
  })
})

test('what they deleted as a whole comes back only with my changes', () => {
  assert.equal(merged({ a: 1 }, { a: 1 }, null), null)
  assert.deepEqual(merged({ a: 1 }, { a: 2 }, null), { a: 2 })
  assert.ok(isSame({ a: undefined }, {}))
})
