/** Files of every type that Torana makes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { runTorana, startTorana, temporaryFolder } from '#test/support/process.ts'

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return String(port)
}

const WIDTH = 512

test('torana batch run writes files of every type that Torana makes, as the route answers them', async () => {
  const folder = temporaryFolder()
  const ports = { PORT: await freePort(), CONTROL_PORT: await freePort() }
  const { url } = await startTorana({ folder, env: ports })
  const run = async (...args: readonly string[]) => {
    const { exit, stdout, stderr } = runTorana({ folder, env: ports, args: [...args] })
    return { code: await exit, stdout: stdout(), stderr: stderr() }
  }
  const key = readFileSync(join(folder, '.torana', 'demo.key'), 'utf8').trim()
  const ask = async (body: object) => {
    const answer = await fetch(`${url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-embed', ...body }),
    })
    assert.equal(answer.status, 200, await answer.clone().text())
    const { data } = (await answer.json()) as { readonly data: readonly { readonly embedding: string }[] }
    return { space: answer.headers.get('x-torana-space') ?? '', bytes: data.map((one) => one.embedding) }
  }

  const corpus = Array.from({ length: 20 }, (_, index) => `note ${index}`)
  writeFileSync(join(folder, 'corpus.jsonl'), corpus.map((text) => JSON.stringify({ text })).join('\n'))
  for (const type of ['float16', 'binary', 'ubinary']) {
    const asked = await ask({ input: corpus, output_dtype: type, encoding_format: 'base64' })
    const out = `${type}.npy`
    const ran = await run('batch', 'run', 'corpus.jsonl', '--type', type, '--out', out, '--json')
    assert.equal(ran.code, 0, ran.stderr)
    const summary = JSON.parse(ran.stdout) as { readonly space: string; readonly dimensions: number }
    assert.deepEqual([summary.space, summary.dimensions], [asked.space, WIDTH])
    const matrix = readFileSync(join(folder, out)).subarray(128)
    const rows = asked.bytes.map((text) => Buffer.from(text, 'base64'))
    assert.ok(matrix.equals(Buffer.concat(rows)), `${type} in a file differs from the answer of the route`)
  }
  const fromFile = await run('batch', 'run', 'corpus.jsonl', '--type', 'ubinary', '--out', 'vectors.parquet')
  assert.equal(fromFile.code, 0, fromFile.stderr)
})
