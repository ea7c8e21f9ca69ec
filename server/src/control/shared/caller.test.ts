import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  actorIn,
  callerIn,
  checkAccess,
  checkSeen,
  maySee,
  nodeCaller,
  visibleProjects,
  type Caller,
} from './caller.ts'

const developer: Caller = {
  kind: 'member',
  actor: 'ada@example.com',
  role: 'developer',
  projects: ['search'],
  isReadOnly: false,
}
const admin = nodeCaller('admin-token')

const requestOf = (caller: Caller | null) => ({ getDecorator: <Value>() => caller as Value })

test('a route knows its caller, and a route for anyone has none', () => {
  assert.equal(callerIn(requestOf(admin)), admin)
  assert.deepEqual(actorIn(requestOf({ ...developer, address: '192.0.2.7' })), {
    kind: 'member',
    name: 'ada@example.com',
    address: '192.0.2.7',
  })
  assert.throws(() => callerIn(requestOf(null)), /no caller/)
})

test('a role does what its permissions say, and the refusal names who could do it', () => {
  assert.doesNotThrow(() => checkAccess(developer, 'keys.create', 'POST'))
  assert.throws(() => checkAccess(developer, 'deployments.drain', 'POST'), {
    code: 'forbidden',
    message: /operator and admin/,
  })
  assert.doesNotThrow(() => checkAccess(developer, 'signed-in', 'GET'))
  assert.doesNotThrow(() => checkAccess(admin, 'members.write', 'POST'))
})

test('a caller that may only read changes nothing, whatever its role', () => {
  const reader = { ...admin, isReadOnly: true }
  assert.doesNotThrow(() => checkAccess(reader, 'keys.read', 'GET'))
  for (const method of ['POST', 'PATCH', 'PUT', 'DELETE'])
    assert.throws(() => checkAccess(reader, 'signed-in', method), { code: 'forbidden' })
})

test('a developer sees rows of the own projects and nothing of others', () => {
  assert.deepEqual(visibleProjects(developer), ['search'])
  assert.deepEqual(visibleProjects(developer, 'search'), ['search'])
  assert.throws(() => visibleProjects(developer, 'ads'), { code: 'forbidden' })
  assert.deepEqual(
    [maySee(developer, 'search'), maySee(developer, 'ads'), maySee(developer, undefined)],
    [true, false, false],
  )
  assert.throws(() => checkSeen(developer, 'ads', 'key ads/ci'), {
    code: 'not_found',
    message: 'There is no key ads/ci.',
  })
})

test('an admin sees all projects, and can narrow to one', () => {
  assert.equal(visibleProjects(admin), undefined)
  assert.deepEqual(visibleProjects(admin, 'ads'), ['ads'])
  assert.doesNotThrow(() => checkSeen(admin, undefined, 'request'))
})
