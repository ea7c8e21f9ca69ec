/** The audit on its way out: a node with a webhook and an OTLP receiver, both real servers, and kills in between. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import OpenAI from 'openai'
import { openPostgres } from '#stores/postgres/database.ts'
import { startNodeProcess, type NodeProcess } from '#test/support/cluster.ts'
import { startOtlpReceiver } from '#test/support/otlp-receiver.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'

const ADMIN = 'admin-token-of-these-tests-0001'
const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`
const KILLS = 5

interface Entry {
  readonly sequence: number
  readonly action: string
  readonly target: string
  readonly hash: string
  readonly previous_hash: string | null
  readonly intact: boolean
}
interface Event {
  readonly id: string
  readonly type: string
  readonly data: Entry
}

const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = []
let status = 204
/** Called when an event has come, before the answer. */
let onEvent = (): void => {}
const server = createServer((request, response) => {
  void text(request).then((body) => {
    if (status === 204) received.push({ headers: request.headers, body })
    onEvent()
    response.writeHead(status).end()
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const webhook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`
const otlp = await startOtlpReceiver()
const provider = await startFakeProvider()
const { url } = await testPostgres()
const database = openPostgres(url, { poolSize: 2 })
after(async () => {
  server.closeAllConnections()
  server.close()
  await Promise.all([otlp.close(), provider.close(), database.close()])
})

let folder: string | undefined
async function start(): Promise<NodeProcess> {
  const node = await startNodeProcess(
    {
      models: { 'plain-w16': { on: 'plain' } },
      audit: { webhooks: [{ url: webhook, secret: SECRET, private: true }] },
      env: {
        DATABASE_URL: url,
        TORANA_ADMIN_TOKEN: ADMIN,
        OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${otlp.url}/v1/logs`,
        OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'x-tenant=siem',
      },
    },
    provider.url,
    folder === undefined ? {} : { folder },
  )
  ;({ folder } = node)
  return node
}

let node = await start()
let projects = 0
async function ask(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' }
  const answer = await fetch(`${node.controlUrl}${path}`, { ...init, headers })
  assert.ok(answer.ok, `${path}: ${answer.status}`)
  return (await answer.json()) as Record<string, unknown>
}

/** Each makes an entry. */
async function createProjects(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    await ask('/api/v1/projects', { method: 'POST', body: JSON.stringify({ name: `p${(projects += 1)}` }) })
}

async function written(): Promise<readonly Entry[]> {
  const { data } = await ask('/api/v1/audit?limit=1000')
  return (data as Entry[]).toReversed()
}

const eventsIn = (): readonly Event[] => received.map(({ body }) => JSON.parse(body) as Event)
const entriesIn = (): readonly Entry[] => otlp.records.map(({ body }) => JSON.parse(String(body)) as Entry)

/** In the order of their first arrival: none is missing, each is linked to the one before, and each is as the API shows it. */
function assertComplete(arrived: readonly Entry[], all: readonly Entry[]): void {
  const first = [
    ...new Map(arrived.toReversed().map((entry) => [entry.sequence, entry])).values(),
  ].toReversed()
  const inOrder = first.toSorted((a, b) => a.sequence - b.sequence)
  assert.deepEqual(
    inOrder.map(({ previous_hash: _previous, ...entry }) => entry),
    all,
  )
  assert.deepEqual(
    inOrder.map(({ previous_hash: previous }) => previous),
    [null, ...inOrder.slice(0, -1).map(({ hash }) => hash)],
  )
  assert.ok(inOrder.every(({ intact }) => intact))
  // A duplicate may come after its successor; an entry never comes before its predecessor has come.
  let through = 0
  for (const { sequence } of arrived) {
    assert.ok(sequence <= through + 1, `${sequence} came after ${through}`)
    through = Math.max(through, sequence)
  }
}

test('every change reaches both receivers in order, signed so that OpenAI’s SDK verifies it', async () => {
  await createProjects(3)
  const all = await written()
  assert.ok(all.length >= 4, 'the start is an entry too')
  await eventually(async () => {
    assertComplete(
      eventsIn().map(({ data }) => data),
      all,
    )
    assertComplete(entriesIn(), all)
  })
  const client = new OpenAI({ apiKey: 'unused', webhookSecret: SECRET })
  for (const { body, headers } of received) {
    const event = (await client.webhooks.unwrap(body, headers)) as unknown as Event
    assert.equal(event.type, 'audit.entry')
    assert.equal(headers['webhook-id'], event.id)
  }
  const record = otlp.records.at(-1)
  const newest = all.at(-1)
  assert.deepEqual(
    [record?.eventName, record?.severity, record?.attributes['torana.audit.sequence']],
    ['torana.audit.entry', 9, newest?.sequence],
  )
  assert.equal(record?.attributes['torana.audit.hash'], newest?.hash)
  assert.equal(record?.attributes['torana.audit.intact'], true)
  assert.equal(record?.attributes['torana.audit.action'], 'project.create')
  assert.equal(typeof record?.attributes['client.address'], 'string')
  assert.equal(otlp.requests.at(-1)?.headers['x-tenant'], 'siem')
  assert.doesNotMatch(node.stdout(), /secret-path/)
})

test('a receiver that refuses keeps its place, is seen by doctor and metrics, and holds up no other', async () => {
  status = 503
  await createProjects(2)
  const all = await written()
  await eventually(async () => assertComplete(entriesIn(), all))
  const { checks } = (await ask('/api/v1/doctor')) as unknown as {
    checks: readonly { readonly name: string; readonly verdict: string; readonly says: string }[]
  }
  const check = checks.find(({ name }) => name === 'receivers')
  assert.equal(check?.verdict, 'warn')
  assert.match(check.says, /^http:\/\/127\.0\.0\.1:\d+ lacks 2 entries of the audit since .*: status 503$/)
  await eventually(async () => {
    const metrics = await (await fetch(`${node.controlUrl}/metrics`)).text()
    assert.match(metrics, /^torana_audit_unsent_entries\{receiver="http:\/\/127[^"]*"\} 2$/m)
    assert.match(metrics, /^torana_audit_unsent_entries\{receiver="otlp"\} 0$/m)
  })
  status = 204
  await eventually(async () =>
    assertComplete(
      eventsIn().map(({ data }) => data),
      all,
    ),
  )
})

test('records that an OTLP receiver rejects with status 200 are sent again', async () => {
  const before = otlp.records.length
  otlp.answerWith(200, 1)
  const requests = otlp.requests.length
  await createProjects(1)
  await eventually(async () => assert.ok(otlp.requests.length > requests))
  assert.equal(otlp.records.length, before)
  otlp.answerWith(200)
  const all = await written()
  await eventually(async () => assertComplete(entriesIn(), all))
})

test(`no entry is skipped by ${KILLS} kills between sending and recording`, async () => {
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { child } = node
    let left = kill
    // The receiver has the event, and the node dies before it hears that.
    onEvent = () => {
      left -= 1
      if (left < 0) child.kill('SIGKILL')
    }
    // The kill may come before the answer to one of these.
    while (!child.killed) {
      await createProjects(1).catch(() => {})
      // Hundreds of them, each sent alone after a failure, would take a busy machine minutes.
      await delay(100)
    }
    await node.exit
    // As if the time of the dead node's hold had passed.
    await database.query('UPDATE audit_receivers SET held_until = now(), next_at = now()')
    onEvent = () => {}
    node = await start()
  }
  await createProjects(1)
  const all = await written()
  await eventually(async () => {
    assertComplete(
      eventsIn().map(({ data }) => data),
      all,
    )
    assertComplete(entriesIn(), all)
  })
  const ids = new Map(eventsIn().map(({ id, data }) => [id, data.sequence]))
  assert.equal(ids.size, all.length, 'an event that comes twice has the same id')
  assert.ok(received.length > all.length, 'at least one event came twice')
})
