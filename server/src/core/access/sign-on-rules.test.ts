import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ROLES, type Role } from './permission.ts'
import { standingOf, type SignOnRule } from './sign-on-rules.ts'

const rule = (claim: string, value: string, role: Role, projects: string[] | null = null): SignOnRule => ({
  claim,
  value,
  role,
  projects,
})

test('a person without a matching rule has no role', () => {
  const rules = [rule('groups', 'ops', 'operator'), rule('email', 'a@b.example', 'admin')]
  for (const claims of [{}, { groups: [] }, { groups: 'op' }, { groups: ['OPS'] }, { Email: 'a@b.example' }])
    assert.equal(standingOf(claims, rules), undefined)
  assert.equal(standingOf({ groups: ['ops'] }, []), undefined)
})

test('a claim is one value or a list, by its name or by a path', () => {
  const rules = [rule('realm_access.roles', 'torana-ops', 'operator'), rule('https://a.b/role', 'x', 'admin')]
  assert.deepEqual(standingOf({ realm_access: { roles: ['a', 'torana-ops'] } }, rules)?.role, 'operator')
  assert.deepEqual(standingOf({ 'https://a.b/role': 'x' }, rules)?.role, 'admin')
  assert.equal(standingOf({ realm_access: 'torana-ops' }, rules), undefined)
})

test('nothing of an object itself is a claim', () => {
  for (const claim of ['constructor', '__proto__', 'toString.name', 'constructor.name'])
    assert.equal(standingOf({ sub: 'x' }, [rule(claim, '*', 'admin')]), undefined)
})

test('any value is not an empty one', () => {
  const rules = [rule('hd', '*', 'developer', ['search'])]
  assert.deepEqual(standingOf({ hd: 'example.com' }, rules), { role: 'developer', projects: ['search'] })
  for (const hd of ['', null, undefined, [], {}]) assert.equal(standingOf({ hd }, rules), undefined)
})

test('a developer has the projects of all rules that fit, and no other role is restricted to projects', () => {
  const rules = [
    rule('groups', 'a', 'developer', ['search', 'shop']),
    rule('groups', 'b', 'developer', ['studio', 'search']),
    rule('groups', 'c', 'operator', ['ignored']),
  ]
  assert.deepEqual(standingOf({ groups: ['b', 'a'] }, rules), {
    role: 'developer',
    projects: ['search', 'shop', 'studio'],
  })
  assert.deepEqual(standingOf({ groups: ['a', 'c'] }, rules), { role: 'operator', projects: null })
})

test('the order of rules never matters', () => {
  const someRule = fc.record({
    claim: fc.constant('groups'),
    value: fc.constantFrom('a', 'b', 'c', '*'),
    role: fc.constantFrom(...ROLES),
    projects: fc.option(fc.array(fc.constantFrom('p', 'q', 'r'))),
  })
  fc.assert(
    fc.property(fc.array(someRule), fc.array(fc.constantFrom('a', 'b', 'd')), (rules, groups) => {
      assert.deepEqual(standingOf({ groups }, rules.toReversed()), standingOf({ groups }, rules))
    }),
  )
})
