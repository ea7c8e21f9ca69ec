import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PERMISSIONS } from '#core/access/permission.ts'
import { controlRoutes } from '#test/support/control.ts'

const CONTRACT = join(import.meta.dirname, '../../../../contract/control.openapi.json')

test('every route of the control API stands in its contract, and the contract names no other', async () => {
  const { paths } = JSON.parse(readFileSync(CONTRACT, 'utf8')) as {
    paths: Record<string, Record<string, unknown>>
  }
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const registered = (await controlRoutes()).map((route) => route.replaceAll(/:(\w+)/g, '{$1}'))
  assert.ok(registered.includes('GET /api/v1/spaces'))
  assert.deepEqual(documented.toSorted(), registered.toSorted())
})

test('every operation of the contract says who may use it', () => {
  const { paths } = JSON.parse(readFileSync(CONTRACT, 'utf8')) as {
    paths: Record<string, Record<string, { 'x-permission'?: string }>>
  }
  const known = new Set<string>([...PERMISSIONS, 'anyone', 'signed-in'])
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations))
      assert.ok(known.has(operation['x-permission'] ?? ''), `${method} ${path}: ${operation['x-permission']}`)
})
