import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PERMISSIONS } from '#core/access/permission.ts'
import { FAULTS } from '#core/fault/table.ts'
import { operationsOf } from '#test/support/contract.ts'
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

for (const name of ['gateway', 'control'] as const)
  test(`every fault that the contract of the ${name} lists is shared, and its codes have its status`, () => {
    for (const { id, statuses, codes } of operationsOf(name))
      for (const status of [...statuses].filter((one) => one >= 400)) {
        const listed = codes.get(status) ?? []
        assert.ok(listed.length > 0, `${id} ${status}`)
        for (const code of listed)
          assert.equal(new Map(Object.entries(FAULTS)).get(code)?.status, status, `${id} ${status} ${code}`)
      }
  })
