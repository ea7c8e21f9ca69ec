/** The load balancers in front of restarted nodes, each with the configuration that docs/one-machine.md names. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../server/test/support/servers.ts'
import { httpReady, spawnOn } from '../../processes.ts'
import { REPOSITORY } from '../../torana.ts'

const CONFIGS = join(REPOSITORY, 'deploy/load-balancers')

export type BalancerKind = 'haproxy' | 'nginx' | 'tcp'

interface BalancerFacts {
  readonly what: string
  /** Stop delay of the nodes: longer than the balancer needs to notice. */
  readonly stopDelayMs: number
  /** Time until it has noticed that a node is back. */
  readonly backMs: number
  readonly asksReadyz: boolean
  readonly file: string
  /** Adapts the shipped file to this test. */
  readonly textOf: (shipped: string, parts: TextParts) => string
  readonly commandOf: (file: string) => readonly string[]
}

interface TextParts {
  readonly port: number
  readonly nodePorts: readonly number[]
  readonly folder: string
}

export const BALANCERS: Readonly<Record<BalancerKind, BalancerFacts>> = {
  haproxy: {
    what: 'HAProxy, retries 0, check 5 s x 2',
    // Two checks of five seconds, with a second to spare for each.
    stopDelayMs: 12_000,
    backMs: 12_000,
    asksReadyz: true,
    file: 'haproxy.cfg',
    // With retries off, and the slow checks of a cloud's balancer.
    textOf: (shipped, parts) =>
      haproxyText(shipped, parts)
        .replace(/^ {2}retries .*$/m, '  retries 0')
        .replace(/inter \S+ fall \d+ rise \d+/, 'inter 5s fall 2 rise 2'),
    commandOf: (file) => ['haproxy', '-db', '-f', file],
  },
  nginx: {
    what: 'nginx, which has no health checks',
    stopDelayMs: 5000,
    // fail_timeout, and a second to spare.
    backMs: 6000,
    asksReadyz: false,
    file: 'nginx.conf',
    textOf: nginxText,
    commandOf: (file) => ['nginx', '-c', file, '-e', `${file}.log`],
  },
  tcp: {
    what: 'HAProxy in TCP mode, which only tries to connect',
    stopDelayMs: 5000,
    backMs: 3000,
    asksReadyz: false,
    file: 'haproxy-tcp.cfg',
    textOf: haproxyText,
    commandOf: (file) => ['haproxy', '-db', '-f', file],
  },
}

export interface Balancer {
  readonly url: string
  stop(): void
}

export async function startBalancer(
  kind: BalancerKind,
  { folder }: { readonly folder: string },
  nodes: readonly { readonly port: number }[],
): Promise<Balancer> {
  const { file: name, textOf, commandOf, asksReadyz } = BALANCERS[kind]
  const port = await freePort()
  const file = join(folder, name)
  const shipped = readFileSync(join(CONFIGS, name), 'utf8')
  writeFileSync(file, textOf(shipped, { port, folder, nodePorts: nodes.map((node) => node.port) }))
  const [program = '', ...args] = commandOf(file)
  const { pid } = spawnOn(undefined, program, args, {}, `${file}.out`)
  const url = `http://127.0.0.1:${port}`
  await httpReady(`${url}${asksReadyz ? '/readyz' : '/livez'}`)
  return { url, stop: () => void process.kill(pid, 'SIGTERM') }
}

function haproxyText(shipped: string, { port, nodePorts }: TextParts): string {
  const servers = (use: 'check' | 'backup'): string =>
    nodePorts.map((node, index) => `  server ${use}-${index + 1} 127.0.0.1:${node} ${use}\n`).join('')
  return shipped
    .replace(/^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`)
    .replace(/(?:^ {2}server .* check\n)+/m, servers('check'))
    .replace(/(?:^ {2}server .* backup\n)+/m, servers('backup'))
}

function nginxText(shipped: string, { port, nodePorts, folder }: TextParts): string {
  const [, options = ''] = /^ {4}server \S+( .*;)$/m.exec(shipped) ?? []
  const servers = nodePorts.map((node) => `    server 127.0.0.1:${node}${options}\n`)
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (place) => `  ${place}_temp_path ${join(folder, `nginx-${place}`)};\n`,
  )
  return shipped
    .replace(/^worker_processes .*$/m, `$&\ndaemon off;\npid ${join(folder, 'nginx.pid')};`)
    .replace(/^http \{\n/m, `$&  access_log off;\n${places.join('')}`)
    .replace(/^ {4}listen .*$/m, `    listen 127.0.0.1:${port};`)
    .replace(/(?:^ {4}server \d.*\n)+/m, servers.join(''))
}
