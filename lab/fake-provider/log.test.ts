import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { LogEntry } from './log.ts'
import { startFakeProvider, type FakeProvider } from './server.ts'
import { tokensOf } from './vectors.ts'

const folder = mkdtempSync(join(tmpdir(), 'fake-provider-test-'))
const logFile = join(folder, 'served.jsonl')
let provider: FakeProvider

before(async () => {
  provider = await startFakeProvider({ logFile })
})
after(async () => {
  await provider.close()
  rmSync(folder, { recursive: true })
})

const body = JSON.stringify({ model: 'embed-w8', input: ['one', 'two words'], dimensions: 4 })

function embed(scenario: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${provider.url}/${scenario}/v1/embeddings`, { method: 'POST', body, headers })
}

function linesOf(file: string): LogEntry[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as LogEntry)
}

describe('the oracle log', () => {
  it('says what was asked and what was served', async () => {
    const answer = await embed('plain', { 'x-torana-call-id': 'call-7', authorization: 'Bearer sk-abcd' })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const { at, id, requestBytes, ...entry } = linesOf(logFile).at(-1) ?? assert.fail()
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 10_000)
    assert.equal(answer.headers.get('x-request-id'), `fake-${id}`)
    assert.equal(requestBytes, body.length)
    assert.deepEqual(entry, {
      callId: 'call-7',
      scenario: 'plain',
      wire: 'openai',
      method: 'POST',
      path: '/plain/v1/embeddings',
      model: 'embed-w8',
      inputs: 2,
      inputType: null,
      dimensions: 4,
      encoding: null,
      tokens: tokensOf('one') + tokensOf('two words'),
      responseSha256: createHash('sha256').update(bytes).digest('hex'),
      status: 200,
      served: true,
      authorization: 'abcd',
    })
  })

  it('tells calls from looks at the list of models', async () => {
    const [entries, calls] = [provider.entries().length, provider.calls().length]
    await fetch(`${provider.url}/plain/v1/models`)
    await embed('plain')
    assert.deepEqual([provider.entries().length - entries, provider.calls().length - calls], [2, 1])
  })

  it('holds the entry before the client gets the first byte', async () => {
    // One byte at a time, so that the headers arrive long before the end of the body.
    for (let round = 0; round < 20; round++) {
      const callId = `first-byte-${round}`
      const outgoing = request(`${provider.url}/chunked-1/v1/embeddings`, {
        method: 'POST',
        headers: { 'x-torana-call-id': callId },
      })
      outgoing.end(JSON.stringify({ model: 'embed-w8', input: 'x' }))
      await once(outgoing, 'response')
      assert.equal(linesOf(logFile).at(-1)?.callId, callId)
      outgoing.destroy()
    }
  })

  const unserved = [
    'status-500',
    'status-429',
    'quota',
    'content-refused',
    'leaks-key',
    'max-inputs-1',
    'wat',
  ]
  for (const scenario of unserved) {
    it(`${scenario} is logged as not served`, async () => {
      const { status } = await embed(scenario)
      const entry = provider.entries().at(-1)
      assert.deepEqual([entry?.served, entry?.status], [false, status])
    })
  }

  it('a connection that ends without an answer has no status; what was worked out counts as served', async () => {
    await assert.rejects(embed('reset'))
    await assert.rejects(embed('serves-then-resets'))
    const [reset, lost] = provider.entries().slice(-2)
    assert.deepEqual([reset?.served, reset?.status, reset?.responseSha256], [false, null, null])
    assert.deepEqual([lost?.served, lost?.status, lost?.responseSha256], [true, null, null])
  })

  it('half an answer counts as served, with the sum of the bytes that left', async () => {
    const answer = await embed('half-body')
    await assert.rejects(answer.arrayBuffer())
    const entry = provider.entries().at(-1)
    assert.deepEqual([entry?.served, entry?.status], [true, 200])
    const whole = Buffer.from(await (await embed('plain')).arrayBuffer())
    const half = whole.subarray(0, Math.floor(whole.length / 2))
    assert.equal(entry?.responseSha256, createHash('sha256').update(half).digest('hex'))
  })

  it('a client that leaves early does not undo the service', async () => {
    await assert.rejects(
      fetch(`${provider.url}/slow-100/v1/embeddings`, {
        method: 'POST',
        body: JSON.stringify({ model: 'embed-w8', input: 'x' }),
        headers: { 'x-torana-call-id': 'left-early' },
        signal: AbortSignal.timeout(20),
      }),
    )
    const deadlineMs = performance.now() + 5000
    while (provider.entries().at(-1)?.callId !== 'left-early' && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.equal(provider.entries().at(-1)?.served, true)
  })

  it('is read and cleared over HTTP, and ids go on', async () => {
    const before = provider.entries()
    const lastId = before.at(-1)?.id ?? 0
    await embed('plain')
    const news = (await (await fetch(`${provider.url}/_log?since=${lastId}`)).json()) as LogEntry[]
    assert.deepEqual(
      news.map(({ id }) => id),
      [lastId + 1],
    )
    await fetch(`${provider.url}/_log`, { method: 'DELETE' })
    assert.deepEqual(await (await fetch(`${provider.url}/_log`)).json(), [])
    await embed('plain')
    assert.equal(provider.entries()[0]?.id, lastId + 2)
  })

  it('health tells the counters', async () => {
    const before = provider.counters()
    await embed('plain')
    await embed('status-500')
    const health = (await (await fetch(`${provider.url}/_health`)).json()) as Record<string, unknown>
    assert.equal(health['ok'], true)
    assert.equal(health['calls'], before.calls + 2)
    assert.equal(health['served'], before.served + 1)
    assert.equal(health['inputs'], before.inputs + 2)
  })
})

describe('the command', () => {
  it('survives being killed: the file has every answered call, and the next start goes on from it', async () => {
    const file = join(folder, 'killed.jsonl')
    const main = new URL('./main.ts', import.meta.url).pathname
    const child = spawn(process.execPath, [main, '--port', '0', '--log', file])
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const url = /http:\/\/\S+/.exec(line.toString())?.[0] ?? assert.fail()
    for (let call = 0; call < 3; call++) {
      await fetch(`${url}/plain/v1/embeddings`, { method: 'POST', body })
    }
    child.kill('SIGKILL')
    await once(child, 'exit')
    assert.equal(linesOf(file).length, 3)

    const next = await startFakeProvider({ logFile: file })
    await fetch(`${next.url}/plain/v1/embeddings`, { method: 'POST', body })
    await next.close()
    assert.deepEqual(
      linesOf(file).map(({ id }) => id),
      [1, 2, 3, 4],
    )
  })
})
