import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { bindListeners } from '#node/listeners.ts'
import { readEnvironment } from '#config/environment.ts'
import { readText } from '#config/file/variable.ts'
import { startNode } from '#main'
import { configText, GATEWAY_KEY, gatewayEnvironment } from '#test/support/gateway.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'
import { openMemoryStores } from '#test/support/stores/open.ts'
import { freePort } from '#test/support/servers.ts'
import { embed } from '#cli/commands/embed.ts'
import { projects } from '#cli/commands/projects.ts'
import { runCommand } from '#cli/command/run.ts'
import type { Command } from '#cli/command/command.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'

/** A start that takes two seconds: it waits for the first probe of a guarded deployment. */
const provider = await startFakeProvider()
const folder = temporaryFolder()
const models = { 'slow-w16': { on: 'slow-3000', spaceGuard: true }, 'plain-w16': { on: 'plain' } }
writeFileSync(join(folder, 'torana.yaml'), configText({ models }, provider.url))
const [port, controlPort] = [await freePort(), await freePort()]
const env = gatewayEnvironment(folder, {
  LOG_LEVEL: 'silent',
  PORT: String(port),
  CONTROL_PORT: String(controlPort),
})
const urls = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${controlPort}`] as const
const settings = readEnvironment(env, folder, readText)
const starting = startNode(settings, env, await bindListeners(settings), openMemoryStores)
// The file was read in the same moment; the rest of the start takes two seconds.
const config = configText({ models: { ...models, 'later-w16': { on: 'plain' } } }, provider.url)
writeFileSync(join(folder, 'torana.yaml'), config)
/** In the environment of a shell in the folder of the node. */
Object.assign(process.env, {
  PORT: String(port),
  CONTROL_PORT: String(controlPort),
  TORANA_DATA_DIR: join(folder, 'none'),
})
const listed = outcome(projects, 'list')
const embedded = outcome(embed, 'cat', '--model', 'plain-w16', '--key', GATEWAY_KEY)

after(async () => {
  await (await starting).stop()
  await provider.close()
})

async function outcome(command: Command, ...argv: readonly string[]) {
  const written = { stdout: '', stderr: '' }
  const code = await runCommand(command, argv, {
    stdout: { write: (text) => void (written.stdout += text) },
    stderr: { write: (text) => void (written.stderr += text) },
  })
  return { code, ...written }
}

const ask = (url: string, model = 'plain-w16'): Promise<Response> =>
  fetch(`${url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'a' }),
  })

test('while the node starts both ports are bound, say so, and refuse what is asked with 503 and retry-after', async () => {
  for (const url of urls) {
    const [alive, ready, asked] = await Promise.all([fetch(`${url}/livez`), fetch(`${url}/readyz`), ask(url)])
    assert.deepEqual([alive.status, await alive.text()], [200, 'ok\n'])
    assert.deepEqual([ready.status, await ready.text()], [503, 'starting\n'])
    assert.deepEqual([asked.status, asked.headers.get('retry-after')], [503, '1'])
    assert.equal(asked.headers.get('x-should-retry'), 'true')
    const { error } = (await asked.json()) as { error: Record<string, string> }
    assert.equal(error['code'], 'node_starting')
    assert.equal(error['request_id'], asked.headers.get('x-request-id'))
    assert.equal(error['doc_url'], `${urls[0]}/docs/errors/node_starting`)
  }
})

test('a command that asks the node says that it is starting, and one that embeds waits for it', async () => {
  assert.deepEqual(await listed, {
    code: 1,
    stdout: '',
    stderr: 'torana projects list: This node is starting. Try again in a moment.\n',
  })
  const { code, stdout, stderr } = await embedded
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^plain-w16: 16 values a vector/m)
  await starting
  const later = await outcome(projects, 'list')
  assert.match(
    later.stderr,
    /^torana projects list: No node uses \S+none\. Run this in the folder where Torana started, or set TORANA_DATA_DIR\./,
  )
})

test('once it is ready, the same addresses serve', async () => {
  const { url, controlUrl } = await starting
  assert.deepEqual([url, controlUrl], urls)
  for (const one of urls) assert.equal((await fetch(`${one}/readyz`)).status, 200)
  const answer = await ask(url)
  assert.equal(answer.status, 200)
  await answer.arrayBuffer()
})

test('what was written into the configuration file during the start counts', async () => {
  const { url } = await starting
  await eventually(async () => {
    const answer = await ask(url, 'later-w16')
    await answer.arrayBuffer()
    assert.equal(answer.status, 200)
  })
})

test('a file that turned wrong is seen in /readyz and in the metrics until it is right again', async () => {
  const { url, controlUrl } = await starting
  const seen = async (): Promise<[number, string, string | undefined]> => {
    const [ready, metrics] = await Promise.all([fetch(`${url}/readyz`), fetch(`${controlUrl}/metrics`)])
    const figure = /^torana_config_last_reload_successful (\d)$/m.exec(await metrics.text())?.[1]
    return [ready.status, await ready.text(), figure]
  }
  assert.deepEqual(await seen(), [200, 'ok\n', '1'])
  writeFileSync(join(folder, 'torana.yaml'), '{ "models": 1 }')
  await eventually(async () => {
    const [status, text, figure] = await seen()
    assert.deepEqual([status, figure], [200, '0'])
    assert.match(
      text,
      /^ok\nthe configuration file is wrong since \d{4}-.*; the last good one stays in use\n$/,
    )
  })
  writeFileSync(join(folder, 'torana.yaml'), config)
  await eventually(async () => assert.deepEqual(await seen(), [200, 'ok\n', '1']))
})
