/** Callers without a right, or whose right has ended: revoked, expired, demoted, and of another project. */
import assert from 'node:assert/strict'
import type { Role } from '#core/access/permission.ts'
import { Client } from 'pg'
import type { ConsoleNode } from './console-node.ts'
import { NODE_TOKEN } from './console-node.ts'
import { bearer, type Walker } from './contract-walk.ts'
import { memberOf } from './members.ts'

/** In the name of every object of the project that is walked. */
const CANARY = 'canary-0f3a'
const OTHER = 'other'

type Credential = Walker['credential']

interface WalkedCaller {
  readonly name: 'gateway' | 'control'
  readonly credential: Credential
}

export interface WalkedCallers {
  readonly canary: string
  /** Of objects that exist, in a project of this name. */
  readonly params: Readonly<Record<string, string>>
  readonly ended: readonly (WalkedCaller & { readonly how: string; readonly status: number })[]
  readonly foreign: readonly WalkedCaller[]
  readonly demoted: { readonly credential: Credential; readonly role: Role }
}

export async function walkedCallers(node: ConsoleNode, databaseUrl: string): Promise<WalkedCallers> {
  const ask = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await node.control(method, path, { token: NODE_TOKEN, body })
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
    return answer.body
  }
  for (const id of [CANARY, OTHER]) await ask('POST', '/projects', { name: id })
  const keyOf = async (project: string, name: string): Promise<string> =>
    String((await ask('POST', '/keys', { project, name }))['secret'])
  const walked = await keyOf(CANARY, CANARY)
  const revoked = await keyOf(CANARY, 'revoked')
  await ask('DELETE', `/keys/${CANARY}/revoked`)
  const expired = await keyOf(CANARY, 'expired')
  const foreign = await keyOf(OTHER, 'foreign')
  const revokedToken = await node.tokenOf('admin')
  const tokens = (await ask('GET', '/tokens'))['data'] as { readonly name: string }[]
  await ask('DELETE', `/tokens/${tokens.at(-1)?.name}`)
  const expiredToken = await node.tokenOf('admin')
  const database = new Client(databaseUrl)
  await database.connect()
  await database.query("UPDATE admin_tokens SET expires_at = now() - interval '1 hour'")
  await database.end()
  await ask('PATCH', `/keys/${CANARY}/expired`, { expires_at: new Date(Date.now() + 1000).toISOString() })
  const foreignToken = await node.tokenOf('developer', { projects: [OTHER] })
  await memberOf(node, 'admin@example.com', 'admin')
  const demoted = await memberOf(node, 'demoted@example.com', 'admin')
  await demoted.ask('GET', '/keys')
  const { id: memberId } = (await demoted.ask('GET', '/session')).body['member'] as { id: string }
  await ask('PATCH', `/members/${memberId}`, { role: 'developer', projects: [OTHER] })
  const upload = await uploadOf(node.url, walked)
  return {
    canary: CANARY,
    params: { project: CANARY, name: CANARY, id: upload, model: 'plain-w16' },
    ended: [
      { name: 'gateway', how: 'revoked', credential: bearer(revoked), status: 401 },
      { name: 'gateway', how: 'expired', credential: bearer(expired), status: 401 },
      { name: 'control', how: 'revoked', credential: bearer(revokedToken), status: 401 },
      { name: 'control', how: 'expired', credential: bearer(expiredToken), status: 401 },
    ],
    foreign: [
      { name: 'gateway', credential: bearer(foreign) },
      { name: 'control', credential: bearer(foreignToken) },
    ],
    demoted: {
      credential: () => [`cookie: ${demoted.cookie}`, `origin: ${node.controlUrl}`],
      role: 'developer',
    },
  }
}

/** An upload of the walked project, which another project must not find. */
async function uploadOf(url: string, key: string): Promise<string> {
  const answer = await fetch(`${url}/v1/uploads`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      filename: `${CANARY}.jsonl`,
      purpose: 'batch',
      bytes: 10,
      mime_type: 'text/plain',
    }),
  })
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return (JSON.parse(text) as { id: string }).id
}
