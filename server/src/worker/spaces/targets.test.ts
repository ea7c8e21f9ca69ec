import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Catalog, Deployment } from '#core/catalog/catalog.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { aModel } from '#test/support/models.ts'
import { Targets } from './targets.ts'

function catalogOf(deployments: readonly Deployment[], isGuarded = true): Catalog {
  return { models: new Map([['m', aModel({ deployments, isGuarded })]]), retired: new Map(), projects: [] }
}

const one = aDeployment({ id: 'm/one' })

test('a request that holds an older catalog may not use a deployment that is gone or leads elsewhere', () => {
  const cases: readonly [now: readonly Deployment[], isWithdrawn: boolean][] = [
    [[one], false],
    [[{ ...one, weight: 7 }], false],
    [[{ ...one, upstreamModel: 'another' }], true],
    [[{ ...one, upstream: { ...one.upstream, baseUrl: 'https://another.example' } }], true],
    [[], true],
  ]
  for (const [now, isWithdrawn] of cases) {
    const targets = new Targets(catalogOf([one]))
    targets.replace(catalogOf(now))
    assert.equal(targets.isWithdrawn(one), isWithdrawn)
    for (const current of now) assert.equal(targets.isWithdrawn(current), false)
  }
})

test('deployments without a guarded space are never withdrawn', () => {
  const targets = new Targets(catalogOf([one], false))
  targets.replace(catalogOf([], false))
  assert.equal(targets.isWithdrawn(one), false)
  assert.equal(targets.isWithdrawn({ id: 'an image deployment' }), false)
})
