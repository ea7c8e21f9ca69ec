/** The HAProxy files of deploy/ in front of nodes whose health checks time out or fail. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testFolder } from '#test/support/disk.ts'
import { eventually } from '#test/support/process.ts'
import { freePort } from '#test/support/servers.ts'
import { isOnPath, tied } from '#test/support/system.ts'

const CONFIGS = join(import.meta.dirname, '../../../deploy/load-balancers')
const skip = isOnPath('haproxy') ? false : 'needs haproxy'

/** Plays a node: it serves requests, while the answers of `/readyz` are up to the test. */
async function startNode(name: string) {
  const node = { readyz: 200 as number | 'none', requests: 0 }
  const server: Server = createServer((request, response) => {
    if (request.url === '/readyz') {
      if (node.readyz !== 'none') response.writeHead(node.readyz).end()
      return
    }
    node.requests += 1
    response.end(name)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = (): void => {
    server.close()
    server.closeAllConnections()
  }
  after(stop)
  return Object.assign(node, { stop, port: (server.address() as AddressInfo).port })
}

/** With short checks: the shipped ones take up to 20 seconds to fail. */
async function startBalancer(file: string, ports: readonly [number, number]) {
  const folder = testFolder()
  const [port, socket] = [await freePort(), join(folder, 'stats')]
  const text = readFileSync(join(CONFIGS, file), 'utf8')
    .replace(/^global\n/m, `global\n  stats socket ${socket} level admin\n`)
    .replace(/^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`)
    .replace(/^ {2}timeout check .*$/m, '  timeout check 300ms')
    .replace(/inter \S+/, 'inter 100ms')
    .replaceAll('10.0.0.1:8080', `127.0.0.1:${ports[0]}`)
    .replaceAll('10.0.0.2:8080', `127.0.0.1:${ports[1]}`)
  const path = join(folder, file)
  writeFileSync(path, text)
  const haproxy = spawn(...tied(['haproxy', '-db', '-f', path]), { stdio: ['ignore', 'ignore', 'inherit'] })
  after(async () => {
    haproxy.kill('SIGKILL')
    if (haproxy.exitCode === null) await once(haproxy, 'exit')
  })
  /** Checked nodes that HAProxy sends requests to. */
  const up = async (): Promise<readonly string[]> => {
    const asked = connect(socket)
    asked.end('show stat\n')
    const lines = (await asked.toArray()).join('').split('\n')
    const columns = lines[0]!.split(',')
    const [name, status] = [columns.indexOf('svname'), columns.indexOf('status')]
    const servers = lines.map((line) => line.split(',')).filter((row) => /^node-\d$/.test(row[name] ?? ''))
    assert.equal(servers.length, 2)
    return servers.filter((row) => row[status]!.startsWith('UP')).map((row) => row[name]!)
  }
  const ask = async (): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/models`, { headers: { connection: 'close' } })
    const body = await answer.text()
    assert.equal(answer.status, 200, body)
    return body
  }
  await eventually(async () => assert.deepEqual(await up(), ['node-1', 'node-2']))
  return { up, ask }
}

test('nodes whose checks all time out still get requests, and each its share', { skip }, async () => {
  const nodes = [await startNode('one'), await startNode('two')] as const
  const { up, ask } = await startBalancer('haproxy.cfg', [nodes[0].port, nodes[1].port])
  for (const node of nodes) node.readyz = 'none'
  await eventually(async () => assert.deepEqual(await up(), []))
  const answers = await Promise.all(Array.from({ length: 20 }, ask))
  assert.deepEqual(new Set(answers), new Set(['one', 'two']))
})

test('a node that is not ready gets nothing while another is', { skip }, async () => {
  const nodes = [await startNode('one'), await startNode('two')] as const
  const { up, ask } = await startBalancer('haproxy.cfg', [nodes[0].port, nodes[1].port])
  nodes[0].readyz = 503
  await eventually(async () => assert.deepEqual(await up(), ['node-2']))
  for (let request = 0; request < 10; request += 1) assert.equal(await ask(), 'two')
  assert.equal(nodes[0].requests, 0)
})

test(
  'while one node is gone and the checks of the other time out, the other gets all requests',
  { skip },
  async () => {
    const nodes = [await startNode('one'), await startNode('two')] as const
    const { up, ask } = await startBalancer('haproxy.cfg', [nodes[0].port, nodes[1].port])
    nodes[0].stop()
    nodes[1].readyz = 'none'
    await eventually(async () => assert.deepEqual(await up(), []))
    for (let request = 0; request < 10; request += 1) assert.equal(await ask(), 'two')
  },
)
