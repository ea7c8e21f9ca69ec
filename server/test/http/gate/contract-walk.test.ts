/** Every operation of both contracts, called with what no well-meaning client sends: no 500, no hang, no lost slot. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { may, type Permission } from '#core/access/permission.ts'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { operationsOf } from '#test/support/contract.ts'
import {
  bearer,
  exchange,
  plain,
  requestsOf,
  STREAMS,
  type Exchange,
  type WalkedRequest,
} from '#test/support/contract-walk.ts'
import { testPostgres } from '#test/support/servers.ts'
import { walkedCallers } from '#test/support/walked-callers.ts'

/** How long a body may pause; a test does not wait for half a minute. */
const IDLE_MS = 300
/** The idle time, the two seconds in which the node discards the rest of a body, and a busy machine. */
const WAIT_MS = 15_000
/** Walkers at once: most of their time they wait for bodies that never end. */
const AT_ONCE = 8

const { url: databaseUrl } = await testPostgres()
const node = await startConsoleNode({
  env: { DATABASE_URL: databaseUrl },
  models: { 'plain-w16': { on: 'plain' } },
  images: { picture: { on: 'plain' } },
  limits: { uploadIdleMs: IDLE_MS },
})
const callers = await walkedCallers(node, databaseUrl)
const PORTS = [
  { name: 'gateway', url: node.url, credential: bearer(node.key) },
  { name: 'control', url: node.controlUrl, credential: bearer(NODE_TOKEN) },
] as const

/** Statuses that the contract of an operation does not list because they do not belong to an operation. */
const UNLISTED: Readonly<Record<string, ReadonlySet<number>>> = {
  HEAD: new Set([200, 302, 400, 401, 404, 405, 409]),
  'unknown method': new Set([400, 401, 404, 405]),
  // Such an address matches no path.
  'longer field': new Set([404]),
  'lone surrogate': new Set([404]),
}

async function walked(
  url: string,
  requests: readonly WalkedRequest[],
  judge: (answer: Exchange, request: WalkedRequest) => string | undefined,
): Promise<string[]> {
  const wrong: string[] = []
  const left = [...requests]
  const work = async (): Promise<void> => {
    for (let request = left.pop(); request !== undefined; request = left.pop()) {
      const answer = await exchange(url, request, WAIT_MS)
      const problem = judge(answer, request)
      if (problem === undefined) continue
      const { operation, kind, what } = request
      wrong.push(`${operation.id}: ${kind}, ${what}: ${problem} ${answer.body.slice(0, 200)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return wrong
}

function problemOf(
  { status, body, isClosed }: Exchange,
  { operation, kind }: WalkedRequest,
): string | undefined {
  if (status === 0) return 'no answer'
  if (!isClosed) return `${status}, and the connection stays open`
  if (UNLISTED[kind]?.has(status)) return undefined
  const code = /"code":"(\w+)"/.exec(body)?.[1]
  if (status >= 400 && code !== undefined && operation.codes.get(status)?.includes(code) === false)
    return `${status} ${code}, a code which is not in the contract`
  if (operation.statuses.has(status)) return undefined
  return `${status}, which is not in the contract`
}

for (const { name, url, credential } of PORTS)
  test(`${name}: unfinished bodies, long fields, HEAD, unknown methods, NUL and half characters get answers of the contract`, async () => {
    const requests = operationsOf(name).flatMap((operation) => requestsOf(operation, { credential }))
    assert.ok(requests.length > 200, `${requests.length} requests`)
    assert.deepEqual(await walked(url, requests, problemOf), [])
    await nothingIsHeld()
  })

/** Streams, exports and bodies can be opened as before, and callers are served. */
async function nothingIsHeld(): Promise<void> {
  const token = { token: NODE_TOKEN }
  for (const { path } of STREAMS)
    assert.equal((await node.control('GET', path.replace('/api/v1', ''), token)).status, 200, path)
  assert.equal((await node.ask({ model: 'plain-w16', input: 'still here' })).status, 200)
}

for (const { name, how, credential, status } of callers.ended)
  test(`${name}: a ${how} caller is refused by every operation`, async () => {
    const port = name === 'gateway' ? node.url : node.controlUrl
    const asked = operationsOf(name).filter(
      ({ permission, id }) => permission !== 'anyone' && id !== 'getAsset',
    )
    const requests = asked.map((operation) => plain(operation, { credential, params: callers.params }))
    const wrong = await walked(port, requests, (answer) =>
      // After too many wrong credentials from one address, the node looks up none of them.
      answer.status === status || answer.status === 429 ? undefined : `${answer.status}`,
    )
    assert.deepEqual(wrong, [])
  })

test('control: a demoted member may do at once what its new role may do, and no more', async () => {
  const { credential, role } = callers.demoted
  const asked = operationsOf('control').filter(
    ({ permission }) => permission !== 'anyone' && permission !== 'signed-in',
  )
  const requests = asked.map((operation) => plain(operation, { credential }))
  const wrong = await walked(node.controlUrl, requests, ({ status }, { operation }) => {
    const isRight = may(role, operation.permission as Permission) ? status !== 401 : status === 403
    return isRight ? undefined : `${status}`
  })
  assert.deepEqual(wrong, [])
})

for (const { name, credential } of callers.foreign)
  test(`${name}: a caller of another project reads nothing of this one`, async () => {
    const port = name === 'gateway' ? node.url : node.controlUrl
    const asked = operationsOf(name).filter(
      ({ permission, path }) => permission !== 'anyone' && path.includes('{'),
    )
    const requests = asked.map((operation) => plain(operation, { credential, params: callers.params }))
    const wrong = await walked(port, requests, ({ status, body }) =>
      status === 500 || (status < 300 && body.includes(callers.canary)) ? `${status}` : undefined,
    )
    assert.deepEqual(wrong, [])
  })
