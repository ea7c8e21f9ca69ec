/**
 * Every operation of both contracts, 500 requests at once, on a node in a control group of 1 GB: no 500, no request without
 * an answer, no crash, and nothing held afterwards. `npm run lab -- check/contract` sends each operation 500 of a kind.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ADMIN_TOKEN } from '#test/support/control.ts'
import { operationsOf } from '#test/support/contract.ts'
import {
  bearer,
  exchange,
  requestsOf,
  STREAMS,
  type Kind,
  type WalkedRequest,
} from '#test/support/contract-walk.ts'
import { configText, GATEWAY_KEY, gatewayEnvironment } from '#test/support/gateway.ts'
import { startTorana, temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { inControlGroup, memoryOf } from '../../../../lab/bench/control-group.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'

const AT_ONCE = 500
const MEMORY_BYTES = 1024 ** 3
/** A busy machine with two cores answers 500 requests within seconds; a request without an answer would wait for ever. */
const WAIT_MS = 60_000
/** Whether each operation gets 500 requests of each kind, or all operations together. */
const IS_LONG = process.env['TORANA_TEST_WALK'] === 'long'

const [provider, { url: databaseUrl }] = await Promise.all([startFakeProvider(), testPostgres()])
after(() => provider.close())
const folder = temporaryFolder()
const config = {
  models: { 'plain-w16': { on: 'plain' } },
  images: { picture: { on: 'plain' } },
  limits: { uploadIdleMs: 1000 },
}
writeFileSync(join(folder, 'torana.yaml'), configText(config, provider.url))
const node = await startTorana({
  folder,
  env: gatewayEnvironment(folder, {
    DATABASE_URL: databaseUrl,
    TORANA_SECRET: 'the secret of these tests, long',
    TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
    LOG_LEVEL: 'silent',
  }),
})
const group = groupOf(node.pid)
after(() => group?.[Symbol.dispose]())

/** Where control groups need more rights than the test has, the peak of the process is compared instead. */
function groupOf(pid: number): Disposable | undefined {
  try {
    return inControlGroup(pid, memoryOf(MEMORY_BYTES))
  } catch {
    return undefined
  }
}

interface Aimed {
  readonly url: string
  readonly request: WalkedRequest
}

const ALL: readonly Aimed[] = (
  [
    ['gateway', node.url, GATEWAY_KEY],
    ['control', node.controlUrl, ADMIN_TOKEN],
  ] as const
).flatMap(([name, url, secret]) =>
  operationsOf(name)
    .flatMap((operation) => requestsOf(operation, { credential: bearer(secret) }))
    .map((request) => ({ url, request })),
)

/** The rounds of parallel requests. */
function roundsOf(kind: Kind): readonly (readonly Aimed[])[] {
  const own = ALL.filter(({ request }) => request.kind === kind)
  if (!IS_LONG) return [repeated(own)]
  const operations = new Set(own.map(({ request }) => request.operation))
  return [...operations].map((operation) =>
    repeated(own.filter(({ request }) => request.operation === operation)),
  )
}

function repeated(own: readonly Aimed[]): readonly Aimed[] {
  return Array.from({ length: AT_ONCE }, (_, index) => own[index % own.length] as Aimed)
}

async function neighbour(): Promise<number> {
  const answer = await fetch(`${node.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'plain-w16', input: 'a neighbour' }),
  })
  return answer.status
}

const KINDS: readonly Kind[] = [
  'unfinished body',
  'longest field',
  'longer field',
  'HEAD',
  'unknown method',
  'NUL',
  'lone surrogate',
  'as it is',
]

for (const kind of KINDS)
  test(`${AT_ONCE} at once, ${kind}: every request gets an answer, and none is a 500`, async () => {
    for (const round of roundsOf(kind)) {
      const answers = await Promise.all(
        round.map(async ({ url, request }) => ({ request, ...(await exchange(url, request, WAIT_MS)) })),
      )
      const wrong = answers
        .filter(({ status }) => status === 0 || status === 500)
        .map(({ request: { operation, what }, status }) => `${operation.id}, ${what}: ${status}`)
      assert.deepEqual([...new Set(wrong)], [])
      assert.equal(await neighbour(), 200)
    }
  })

test('afterwards every slot is free, and the node has stayed within its memory', async () => {
  const opened = await Promise.all(
    STREAMS.flatMap(({ path, atOnce }) => Array.from({ length: atOnce }, () => openedAt(path))),
  )
  for (const { path, status, leave } of opened) {
    assert.equal(status, 200, path)
    leave()
  }
  const peak = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${node.pid}/status`, 'utf8'))?.[1]) * 1024
  assert.ok(peak > 0 && peak < MEMORY_BYTES, `${Math.round(peak / 1e6)} MB`)
})

async function openedAt(
  path: string,
): Promise<{ readonly path: string; readonly status: number; readonly leave: () => void }> {
  const leaving = new AbortController()
  const { status } = await fetch(`${node.controlUrl}${path}`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    signal: leaving.signal,
  })
  return { path, status, leave: () => leaving.abort() }
}
