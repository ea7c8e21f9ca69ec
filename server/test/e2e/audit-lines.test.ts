/** The audit in the logs of two nodes on one PostgreSQL: what a collector needs to check that no entry is missing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCluster } from '#test/support/cluster.ts'
import { eventually } from '#test/support/process.ts'

const ADMIN = 'admin-token-of-these-tests-0001'
const { nodes } = await startCluster({
  nodes: 2,
  models: { 'plain-w16': { on: 'plain' } },
  env: { TORANA_ADMIN_TOKEN: ADMIN },
})

type Entry = Readonly<Record<string, unknown>>

function ask(node: number, path: string, body?: object): Promise<Response> {
  return fetch(`${nodes[node]?.controlUrl}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

const createProject = async (node: number, name: string): Promise<number> =>
  (await ask(node, '/projects', { name })).status

/** As the API shows them, the oldest first. */
async function committed(): Promise<readonly Entry[]> {
  const { data } = (await (await ask(0, '/audit?limit=1000')).json()) as { data: readonly Entry[] }
  return data.toReversed()
}

/** What a node has written to its log, without what every line of the log has. */
const linesOf = (node: number): readonly Entry[] =>
  (nodes[node]?.stdout() ?? '')
    .split('\n')
    .filter((line) => line.includes('"event":"audit"'))
    .map((line) => {
      const { level, time, event, message, ...entry } = JSON.parse(line) as Entry
      assert.deepEqual([level, event, message, typeof time], ['info', 'audit', 'audit entry', 'string'])
      return entry
    })

/** Each entry is one line of the two logs, and none is missing. */
async function assertLogged(): Promise<readonly Entry[]> {
  return eventually(async () => {
    const lines = [...linesOf(0), ...linesOf(1)].toSorted(
      (a, b) => Number(a['sequence']) - Number(b['sequence']),
    )
    const all = await committed()
    assert.deepEqual(
      lines.map(({ previous_hash: _previous, ...entry }) => entry),
      all,
    )
    assert.deepEqual(
      lines.map(({ previous_hash: previous }) => previous),
      [null, ...all.slice(0, -1).map(({ hash }) => hash)],
    )
    return all
  })
}

test('an admin action is one line in the log of the node that commits it, with the fields of its entry', async () => {
  const before = await assertLogged()
  assert.equal(await createProject(1, 'search'), 201)
  const all = await assertLogged()
  assert.equal(all.length, before.length + 1)
  const own = (node: number) => linesOf(node).filter(({ target }) => target === 'search')
  assert.deepEqual([own(0).length, own(1).length], [0, 1])
  const [line] = own(1)
  assert.deepEqual(
    [line?.['action'], line?.['actor'], line?.['sequence'], line?.['intact'], line?.['proof']],
    ['project.create', 'admin-token', all.length, true, 'keyed'],
  )
})

test('the lines of two nodes that change things at the same time are one chain', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `p${index}`)
  const statuses = await Promise.all(names.map((name, index) => createProject(index % 2, name)))
  assert.deepEqual(new Set(statuses), new Set([201]))
  const all = await assertLogged()
  assert.ok(linesOf(0).length > 5 && linesOf(1).length > 5)
  assert.deepEqual(
    all.map(({ sequence }) => sequence),
    all.map((_, index) => index + 1),
  )
})

test('a change that is refused is no line', async () => {
  const before = await assertLogged()
  assert.equal(await createProject(0, 'search'), 409)
  assert.equal(await createProject(0, 'after'), 201)
  const all = await assertLogged()
  assert.deepEqual(
    all.slice(before.length).map(({ target }) => target),
    ['after'],
  )
})
