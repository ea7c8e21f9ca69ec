/** Live streams of members and tokens, over a whole node: they last as long as the rights that they were opened with. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { memberOf } from '#test/support/members.ts'

const node = await startConsoleNode()
// A second admin, so that the first may be demoted.
await memberOf(node, 'boss@example.com', 'admin')
const asAdmin = (method: string, path: string, body?: object) =>
  node.control(method, path, { token: NODE_TOKEN, ...(body && { body }) })

/** Resolves when the stream has ended, with the milliseconds that it took. */
async function ended(headers: Record<string, string>, change: () => Promise<unknown>): Promise<number> {
  const signal = AbortSignal.timeout(10_000)
  const answer = await fetch(`${node.controlUrl}/api/v1/events?topics=request,flows`, { headers, signal })
  assert.equal(answer.status, 200)
  await change()
  const startedMs = performance.now()
  await answer.text().catch(() => {})
  assert.ok(!signal.aborted, 'the stream went on')
  return performance.now() - startedMs
}

const CHANGES = [
  { what: 'demoted', role: 'admin', change: { role: 'developer', projects: [] } },
  { what: 'removed from a project', role: 'developer', change: { projects: ['search'] } },
  { what: 'disabled', role: 'operator', change: { disabled: true } },
] as const

for (const { what, role, change } of CHANGES)
  test(`the stream of a member who is ${what} ends within two seconds`, async () => {
    const email = `${role}@example.com`
    const projects = role === 'developer' ? ['search', 'ads'] : null
    const { cookie } = await memberOf(node, email, role, projects)
    const { body } = await asAdmin('GET', '/members?limit=200')
    const { id } = (body['data'] as { id: string; email: string }[]).find((one) => one.email === email) ?? {}
    const changed = async () => assert.equal((await asAdmin('PATCH', `/members/${id}`, change)).status, 200)
    assert.ok((await ended({ cookie }, changed)) < 2000)
  })

test('the stream of a member whose name alone is changed goes on', async () => {
  const { cookie } = await memberOf(node, 'named@example.com', 'operator')
  const { body } = await asAdmin('GET', '/members?limit=200')
  const { id } =
    (body['data'] as { id: string; email: string }[]).find(({ email }) => email === 'named@example.com') ?? {}
  const signal = AbortSignal.timeout(4000)
  const answer = await fetch(`${node.controlUrl}/api/v1/events?topics=flows`, { headers: { cookie }, signal })
  assert.equal((await asAdmin('PATCH', `/members/${id}`, { name: 'Another' })).status, 200)
  await assert.rejects(answer.text(), { name: 'TimeoutError' })
})

test('the stream of a revoked token ends within two seconds, also where a new token has its name', async () => {
  const token = { name: 'ci', role: 'operator', projects: null, read_only: true, expires_in_days: 7 }
  const made = await asAdmin('POST', '/tokens', token)
  const took = await ended({ authorization: `Bearer ${String(made.body['secret'])}` }, async () => {
    assert.equal((await asAdmin('DELETE', '/tokens/ci')).status, 204)
    assert.equal((await asAdmin('POST', '/tokens', token)).status, 201)
  })
  assert.ok(took < 2000)
})
