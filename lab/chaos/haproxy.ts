/** HAProxy as a process, and its configuration in front of the gateways: it forwards what it can, and sends nothing twice. */
import { writeFileSync } from 'node:fs'
import { portReady, spawnOn } from '../processes.ts'

/** Resolves with what ends it, once it listens at these ports. */
export async function startHaproxy(
  file: string,
  text: string,
  ports: readonly number[],
): Promise<() => void> {
  writeFileSync(file, text)
  const { pid } = spawnOn(undefined, 'haproxy', ['-db', '-f', file], {}, `${file}.log`)
  for (const port of ports) await portReady(port)
  return () => void process.kill(pid, 'SIGKILL')
}

/**
 * Only a connection that could not be opened is tried on another gateway: a sent request may have been paid
 * for, and sending it again would buy it twice. Connections are few and reused: a Node.js server accepts one
 * new connection per turn of its event loop, so that on a busy machine a crowd of new ones, health checks
 * among them, waits for seconds.
 */
export function gatewaysText(port: number, gatewayPorts: readonly number[]): string {
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
