import assert from 'node:assert/strict'
import { test } from 'node:test'
import { may, PERMISSIONS, permissionsOf, ROLES, rolesWith } from './permission.ts'

test('each role may do everything that the role before it may', () => {
  const [developer, operator, admin] = ROLES.map((role) => new Set(permissionsOf(role)))
  assert.ok(developer && operator && admin)
  assert.ok(developer.isSubsetOf(operator) && operator.isSubsetOf(admin))
  assert.ok(developer.size < operator.size && operator.size < admin.size)
  assert.equal(admin.size, PERMISSIONS.length)
})

const CASES = [
  ['keys.create', ['developer', 'operator', 'admin']],
  ['deployments.drain', ['operator', 'admin']],
  ['audit.read', ['operator', 'admin']],
  ['spaces.accept', ['admin']],
  ['projects.write', ['admin']],
  ['keys.loosen', ['admin']],
  ['members.write', ['admin']],
] as const

for (const [permission, roles] of CASES)
  test(`${permission} belongs to ${roles.join(', ')} alone`, () => {
    assert.deepEqual(rolesWith(permission), roles)
    for (const role of ROLES) assert.equal(may(role, permission), (roles as readonly string[]).includes(role))
  })
