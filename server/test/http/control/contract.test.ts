import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSIONS } from '#core/access/permission.ts'
import { FAULTS } from '#core/fault/table.ts'
import { operationsOf } from '#test/support/contract.ts'
import { controlRoutes } from '#test/support/control.ts'

test('every route of the control API stands in its contract, and the contract names no other', async () => {
  const documented = operationsOf('control').map(({ method, path }) => `${method} ${path}`)
  const registered = (await controlRoutes()).map((route) => route.replaceAll(/:(\w+)/g, '{$1}'))
  assert.ok(registered.includes('GET /api/v1/spaces'))
  assert.deepEqual(documented.toSorted(), registered.toSorted())
})

test('every operation of the contract says who may use it', () => {
  const known = new Set<string>([...PERMISSIONS, 'anyone', 'signed-in'])
  for (const { method, path, permission = '' } of operationsOf('control'))
    assert.ok(known.has(permission), `${method} ${path}: ${permission}`)
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
