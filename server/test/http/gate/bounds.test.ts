/** The list of bounds and the routes of both ports are the same: no route can exist outside the gate. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fastify } from 'fastify'
import { defaultLimits } from '#core/settings.ts'
import { controlBounds, gatewayBounds, type RouteBounds } from '#http/gate/bounds.ts'
import { boundRoutes } from '#http/gate/gate.ts'
import { operationsOf } from '#test/support/contract.ts'

const BODILESS = new Set(['GET', 'DELETE'])

const PORTS = [
  { name: 'gateway', bounds: gatewayBounds(defaultLimits), prefix: '/v1' },
  { name: 'control', bounds: controlBounds(defaultLimits), prefix: '/api/v1' },
] as const

for (const { name, bounds, prefix } of PORTS)
  test(`the list of bounds names every operation of the ${name} contract that may have a body, and no other`, () => {
    const inContract = operationsOf(name)
      .filter(({ method }) => !BODILESS.has(method))
      .map(({ method, path }) => `${method} ${lineOf(path.replace(prefix, ''))}`)
    assert.deepEqual(Object.keys(bounds).sort(), [...new Set(inContract)].sort())
  })

/** Paths that end in one of several words are one route. */
function lineOf(path: string): string {
  return path
    .replace('/engines/{model}/embeddings', '/engines/*')
    .replace('/deployments/{model}/embeddings', '/deployments/*')
    .replaceAll(/\{(\w+)\}/g, ':$1')
}

for (const { name, bounds } of PORTS)
  test(`a route of the ${name} without bounds cannot be registered`, async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'OPTIONS', 'QUERY'])
      await assert.rejects(registered(bounds, method), /has no bounds: add '\w+ \/planted'/)
    for (const method of ['GET', 'DELETE']) await registered(bounds, method)
  })

async function registered(bounds: Readonly<Record<string, RouteBounds>>, method: string): Promise<void> {
  const app = fastify()
  boundRoutes(app, bounds, (one, url) => `${one} ${url}`)
  app.route({ method, url: '/planted', handler: async () => 'planted' })
  await app.ready()
}
