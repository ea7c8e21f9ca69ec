/** `torana start --workers`: runs a supervisor until a signal stops it. */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import type { Environment } from '#config/file/variable.ts'
import { tasksOf } from '#core/node/node-role.ts'
import type { Settings } from '#core/settings.ts'
import { openLog } from '#telemetry/log.ts'
import type { Output } from '../command/output.ts'
import { onHangUp, stopRequested } from './stop-signals.ts'
import type { Address } from './stand-in.ts'
import { Supervisor } from './supervisor.ts'

export interface SuperviseParts {
  readonly workers: number
  /** What each worker reads its settings from. */
  readonly env: Environment
  readonly out: Output
}

export async function supervise(
  settings: Settings,
  { workers, env: given, out }: SuperviseParts,
): Promise<number> {
  const log = openLog(settings.logLevel, settings.logFormat)
  const port = await fixedPort(settings.host, settings.port)
  const controlPort = await fixedPort(settings.controlHost, settings.controlPort)
  const env = {
    ...given,
    TORANA_WORKERS: String(workers),
    TORANA_ROLE: settings.role,
    PORT: String(port),
    CONTROL_PORT: String(controlPort),
  }
  const addresses: Address[] = [{ name: 'control', host: settings.controlHost, port: controlPort }]
  if (tasksOf(settings.role).takesRequests) addresses.push({ name: 'public', host: settings.host, port })
  const supervisor = new Supervisor({ workers, env, addresses, log })
  const started = supervisor.start()
  const first = await Promise.race([started, stopRequested()])
  if ('exitCode' in first) {
    log.close()
    return first.exitCode
  }
  if ('banner' in first) {
    onHangUp(() => supervisor.replaceAll())
    out.stderr.write(first.banner)
  }
  await supervisor.stop((await stopRequested()).by)
  log.info('all workers have stopped')
  log.close()
  return 0
}

/** Workers that are started one after another could not agree on "any free port". */
async function fixedPort(host: string, port: number): Promise<number> {
  if (port !== 0) return port
  const server = createServer().listen({ host, port: 0 })
  await once(server, 'listening')
  const { port: free } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return free
}
