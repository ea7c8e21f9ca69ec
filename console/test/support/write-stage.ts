/** A node with one of everything that a write can be about: what the rows of `write-table.ts` find. */
import assert from 'node:assert/strict'
import { uuidv7Identifiers } from '../../../server/src/runtime/identifiers.ts'
import { PostgresLedger } from '../../../server/src/stores/postgres/ledger/ledger.ts'
import { openPostgres } from '../../../server/src/stores/postgres/database.ts'
import { atEnd } from '../../../server/test/support/at-end.ts'
import { BatchCaller, embeddingLines } from '../../../server/test/support/batches.ts'
import { NODE_TOKEN, startConsoleNode, type ConsoleNode } from '../../../server/test/support/console-node.ts'
import { eventually } from '../../../server/test/support/process.ts'
import { testPostgres } from '../../../server/test/support/servers.ts'
import { memberCookie, type Member } from './member.ts'
import { STAGE } from './write-table.ts'

export interface Stage {
  readonly node: ConsoleNode
  /** Without a member, for the first run. */
  readonly fresh: ConsoleNode
  /** Of a server that can be connected. */
  readonly provider: string
  readonly cookie: { readonly name: string; readonly value: string; readonly url: string }
  /** An address of the table, with the ids of this node. */
  readonly address: (at: string) => string
}

/** Long enough that the batch still runs when the test ends. */
const BATCH_LINES = 2000

export async function startStage(): Promise<Stage> {
  const { url } = await testPostgres()
  const [node, fresh] = await Promise.all([
    startConsoleNode({
      models: {
        'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } },
        'open-w16': { on: 'plain' },
        'priced-w16': { on: 'plain' },
        'slow-w16': {
          on: 'slow-3000',
          price: { usdPerMillionTokens: 10 },
          deploymentLimits: { concurrency: 1 },
        },
        [STAGE.guarded]: { on: ['mode-one', 'mode-two'], spaceGuard: true },
      },
      images: { picture: { on: 'plain' } },
      env: { DATABASE_URL: url },
    }),
    startConsoleNode({ file: false }),
  ])
  const make = async (method: string, path: string, body?: unknown) => {
    const answer = await node.control(method, path, {
      token: NODE_TOKEN,
      ...(body !== undefined && { body }),
    })
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
    return answer.body
  }
  await make('POST', '/projects', { name: STAGE.project, budget: { usd: 50, per: 'month', hard: true } })
  await make('POST', '/projects', { name: STAGE.emptyProject })
  const budget = { usd: 5, per: 'month', hard: false }
  await make('POST', '/keys', { project: STAGE.project, name: STAGE.key, budget })
  await make('POST', '/keys', { project: STAGE.project, name: STAGE.rotatedKey })
  await make('POST', `/keys/${STAGE.project}/${STAGE.rotatedKey}/rotate`, { overlap_seconds: 86_400 })
  await make('POST', '/tokens', { name: STAGE.token, role: 'operator', expires_in_days: 7 })
  await make('PUT', `/prices/${encodeURIComponent(STAGE.priced)}`, { price: { usdPerMillionTokens: '2' } })
  await make('PUT', '/sign-on', {
    issuer: 'https://id.example.com',
    client_id: 'torana',
    rules: [{ claim: 'groups', value: 'staff', role: 'operator', projects: null }],
  })
  const cookie = await makePeople(node, make)
  const { link } = await make('POST', '/invitations', { email: STAGE.invited, role: 'operator' })
  const stored = await makeStoredModel(node, make)
  await makeLedger(url)
  const { running, paused, held } = await makeBatches(node, make)
  await makeDrift(node, make)
  await makeAlerts(make)
  const addresses: Readonly<Record<string, string>> = {
    '{first run}': String(fresh.welcomeUrl).replace(fresh.controlUrl, ''),
    '{token}': String(link).split('/').at(-1) ?? '',
    '{running}': running,
    '{paused}': paused,
    '{held}': held,
    '{stored}': encodeURIComponent(stored),
  }
  return {
    node,
    fresh,
    provider: `${node.provider.url}/plain/v1`,
    cookie,
    address: (at) => at.replace(/\{[^}]+\}/, (name) => addresses[name] ?? name),
  }
}

type Make = (method: string, path: string, body?: unknown) => Promise<Readonly<Record<string, unknown>>>

async function makePeople(node: ConsoleNode, make: Make): Promise<Stage['cookie']> {
  const cookieOf = (person: Pick<Member, 'name' | 'email'>) =>
    memberCookie(node.controlUrl, { role: 'operator', ...person }, NODE_TOKEN)
  await cookieOf(STAGE.disabled)
  const [name = '', value = ''] = (await cookieOf(STAGE.member)).split(/=(.*)/s)
  const { data } = (await make('GET', '/members')) as { data: { id: string; name: string }[] }
  const disabled = data.find((one) => one.name === STAGE.disabled.name)
  await make('PATCH', `/members/${disabled?.id}`, { disabled: true })
  return { name, value, url: node.controlUrl }
}

/** A model that was connected in the console: only those can be removed there. */
async function makeStoredModel(node: ConsoleNode, make: Make): Promise<string> {
  const question = { base_url: `${node.provider.url}/mode-lone/v1` }
  const { models } = (await make('POST', '/upstreams/check', question)) as {
    models: { id: string; served: unknown }[]
  }
  const id = models[0]?.id ?? ''
  const { name } = (await make('POST', '/upstreams', question)) as { name: string }
  await make('POST', '/models', {
    upstream: name,
    ids: [id],
    own: { [id]: { kind: 'embedding', width: 16 } },
  })
  return id
}

/** A call with an unknown outcome, and a node that was last seen an hour ago. */
async function makeLedger(url: string): Promise<void> {
  const database = openPostgres(url)
  atEnd(() => database.close())
  const ids = uuidv7Identifiers({ nowMs: Date.now, monotonicMs: () => 0 })
  const [nodeId, requestId] = [ids.next(), ids.next()]
  const ledger = new PostgresLedger(database)
  await ledger.startNode({ id: nodeId, host: STAGE.silentHost, version: '0' })
  await ledger.append(nodeId, [
    {
      attempt: 0,
      kind: 'unknown',
      usage: 'unknown',
      images: 0,
      tokens: undefined,
      requestId,
      callId: requestId,
      project: STAGE.project,
      keyId: `${STAGE.project}/${STAGE.key}`,
      model: 'plain-w16',
      deployment: 'plain-w16/plain',
      amountNanoUsd: 81_900_000n,
      projectLeaseNanoUsd: 0n,
      keyLeaseNanoUsd: 0n,
      countsRequest: true,
      remarks: { what: '1 text', reason: 'no answer within 60 s' },
    },
  ])
  await database.query(`UPDATE nodes SET seen_at = now() - interval '1 hour' WHERE host = $1`, [
    STAGE.silentHost,
  ])
}

/** One that runs, one whose key was revoked, and one that a person paused. */
async function makeBatches(
  node: ConsoleNode,
  make: Make,
): Promise<{ running: string; paused: string; held: string }> {
  const texts = Array.from({ length: BATCH_LINES }, (_, index) => `text ${index}`)
  const begin = async (secret: string): Promise<string> => {
    const caller = new BatchCaller(node.url, secret)
    return (await caller.create(await caller.upload(embeddingLines('slow-w16', texts)))).id
  }
  const secrets = await Promise.all(
    ['running', 'paused', 'held'].map(async (name) =>
      String((await make('POST', '/keys', { project: STAGE.project, name }))['secret']),
    ),
  )
  const [running = '', paused = '', held = ''] = await Promise.all(secrets.map(begin))
  await make('DELETE', `/keys/${STAGE.project}/paused`)
  await make('POST', `/batches/${held}/pause`, {})
  await eventually(async () => {
    const batch = JSON.stringify(await make('GET', `/batches/${paused}`))
    assert.ok(batch.includes('key_revoked'), batch)
  })
  return { running, paused, held }
}

/** One of two deployments leaves the space of its model, and one that has answered before. */
async function makeDrift(node: ConsoleNode, make: Make): Promise<void> {
  await make('POST', `/spaces/${STAGE.guarded}/probe`)
  await node.provider.setMode('two', { vectors: 'other-model' })
  await make('POST', `/spaces/${STAGE.guarded}/probe`)
}

/** A channel that no one answers, with a notification that waits for it, and a channel that no rule names. */
async function makeAlerts(make: Make): Promise<void> {
  const receiver = { kind: 'webhook', url: 'http://127.0.0.1:9/alerts', private: true }
  const { id } = await make('POST', '/alerts/channels', { ...receiver, name: STAGE.failingChannel })
  await make('POST', '/alerts/channels', { ...receiver, name: STAGE.unusedChannel })
  // Of the call with an unknown outcome.
  const condition = { hours: 0 }
  await make('POST', '/alerts/rules', { kind: 'unknowns', name: STAGE.rule, condition, channels: [id] })
  await eventually(async () => {
    const { data } = (await make('GET', '/alerts/channels')) as { data: { queued: number }[] }
    assert.ok(data.some(({ queued }) => queued > 0))
  })
}
