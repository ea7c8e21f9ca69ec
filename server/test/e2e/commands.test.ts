/** Commands reach the node of their data folder by its socket. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, lstatSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually, runTorana, startTorana, temporaryFolder } from '#test/support/process.ts'

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return String(port)
}

test('the socket is for its user alone, outlives a kill, and is gone when the node ends', async () => {
  const folder = temporaryFolder()
  const env = { CONTROL_PORT: await freePort() }
  const socket = join(folder, '.torana', `control-${env.CONTROL_PORT}.sock`)
  const list = async () => {
    const { exit, stdout, stderr } = runTorana({ folder, env, args: ['projects', 'list'] })
    return { code: await exit, stdout: stdout(), stderr: stderr() }
  }
  const first = await startTorana({ folder, env })
  const { mode } = lstatSync(socket)
  assert.equal(mode & 0o777, 0o600)
  const listed = await list()
  assert.equal(listed.code, 0, listed.stderr)
  process.kill(first.pid, 'SIGKILL')
  await first.ended()
  assert.ok(existsSync(socket), 'nobody could remove it')
  const refused = await list()
  assert.deepEqual(
    [refused.code, /No node answers at \S+\.sock \(ECONNREFUSED\)/.test(refused.stderr)],
    [1, true],
  )
  const second = await startTorana({ folder, env })
  const again = await list()
  assert.equal(again.code, 0, again.stderr)
  second.signal('SIGTERM')
  assert.equal(await second.ended(), 0)
  assert.ok(!existsSync(socket))
})

test('a data folder whose path is too long for a socket is reported, and its node runs', async () => {
  const folder = temporaryFolder()
  const port = await freePort()
  const env = { CONTROL_PORT: port, TORANA_DATA_DIR: 'x'.repeat(100) }
  const node = await startTorana({ folder, env })
  // The log is written in its own time.
  await eventually(async () =>
    assert.match(`${node.stdout()}${node.stderr()}`, /there is no socket for commands on this machine/),
  )
  const { exit, stderr } = runTorana({
    folder,
    env,
    args: ['projects', 'list', '--url', `http://127.0.0.1:${port}`],
  })
  assert.equal(await exit, 0, stderr())
})
