import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Catalog, Deployment } from '#core/catalog/catalog.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { aModel } from '#test/support/models.ts'
import { unchangedIn } from './unchanged.ts'

function catalogOf(...deployments: readonly Deployment[]): Catalog {
  return { models: new Map([['m', aModel({ deployments })]]), retired: new Map(), projects: [] }
}

test('a deployment is unchanged while its upstream, its credential and its model there are', () => {
  const before = aDeployment({ id: 'm/one' })
  const { upstream } = before
  const cases: readonly [now: Deployment, isSame: boolean][] = [
    [{ ...before, weight: 7 }, true],
    [{ ...before, upstreamModel: 'another' }, false],
    [{ ...before, upstream: { ...upstream, apiKey: 'another' } }, false],
    [{ ...before, upstream: { ...upstream, baseUrl: 'https://another.example' } }, false],
    [{ ...before, id: 'm/two' }, false],
  ]
  for (const [now, isSame] of cases)
    assert.deepEqual([...unchangedIn(catalogOf(before), catalogOf(now))], isSame ? ['m/one'] : [])
})
