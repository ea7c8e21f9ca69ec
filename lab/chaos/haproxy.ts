/** HAProxy in front of the gateways: it forwards what it can, and sends nothing twice. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { tied } from '../../server/test/support/system.ts'

export interface LoadBalancer {
  readonly url: string
  stop(): Promise<void>
}

/** It listens when this resolves. */
export async function startHaproxy(
  port: number,
  gatewayPorts: readonly number[],
  configFile: string,
): Promise<LoadBalancer> {
  writeFileSync(configFile, haproxyConfig(port, gatewayPorts))
  const child = spawn(...tied(['haproxy', '-db', '-f', configFile]), {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exit = once(child, 'exit')
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = exit.then(() => Promise.reject(new Error(`haproxy ended: ${output}`)))
  await Promise.race([ended, answering(`http://127.0.0.1:${port}/`)])
  ended.catch(() => {})
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGKILL')
      await exit
    },
  }
}

/**
 * Only a connection that could not be opened is tried on another gateway: a sent request may have been paid
 * for, and sending it again would buy it twice. Connections are few and reused: a Node.js server accepts one
 * new connection per turn of its event loop, so that on a busy machine a crowd of new ones, health checks
 * among them, waits for seconds.
 */
function haproxyConfig(port: number, gatewayPorts: readonly number[]): string {
  const servers = gatewayPorts.map((gateway, index) => `  server gateway-${index} 127.0.0.1:${gateway}`)
  return `global
  maxconn 8000
defaults
  mode http
  timeout connect 1s
  timeout client 20s
  timeout server 20s
  timeout queue 2s
  timeout check 3s
  retries 3
  option redispatch 1
  retry-on conn-failure
frontend public
  bind 127.0.0.1:${port}
  default_backend gateways
backend gateways
  balance roundrobin
  http-reuse always
  option httpchk GET /readyz
  http-check expect status 200
  default-server maxconn 250 check inter 500ms fastinter 100ms downinter 100ms fall 3 rise 1 slowstart 3s
${servers.join('\n')}
`
}

async function answering(url: string): Promise<void> {
  for (;;) {
    const isThere = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isThere) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
