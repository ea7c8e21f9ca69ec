/** A gateway seen from outside: its memory, its CPU time, its open files. */
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ToranaOptions } from '../torana.ts'
import type { Probed } from './gateway-probe.ts'
import { startTorana, type StartedTorana } from './torana.ts'

export interface WatchedTorana extends StartedTorana {
  readonly watch: GatewayWatch
}

/** A node that can be looked into. */
export async function startWatched(options: ToranaOptions): Promise<WatchedTorana> {
  const { folder, flags = [], env = {} } = options
  const probeSocket = join(folder, 'probe')
  const torana = await startTorana({
    ...options,
    flags: [...flags, '--import', join(import.meta.dirname, 'gateway-probe.ts')],
    env: { LOG_LEVEL: 'silent', ...env, GATEWAY_PROBE_SOCKET: probeSocket },
  })
  const watch = new GatewayWatch(torana.pid, probeSocket, join(torana.dataFolder, 'uploads'))
  return { ...torana, watch }
}

export interface Handles {
  readonly connections: number
  /** Files of requests not counted. */
  readonly others: number
  /** Files of requests, which have no name any more. */
  readonly uploads: number
}

export class GatewayWatch {
  readonly #pid: number
  readonly #probeSocket: string
  readonly #uploadsFolder: string

  constructor(pid: number, probeSocket: string, uploadsFolder: string) {
    this.#pid = pid
    this.#probeSocket = probeSocket
    this.#uploadsFolder = uploadsFolder
  }

  residentBytes(): number {
    return this.#status('VmRSS')
  }

  /** Since `resetPeak`. The system keeps it, so that nothing short is missed. */
  peakBytes(): number {
    return this.#status('VmHWM')
  }

  resetPeak(): void {
    writeFileSync(`/proc/${this.#pid}/clear_refs`, '5')
  }

  /** By every call of the system, connections included. */
  readBytes(): number {
    return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${this.#pid}/io`, 'utf8'))?.[1])
  }

  handles(): Handles {
    const folder = `/proc/${this.#pid}/fd`
    const targets = readdirSync(folder).map((name) => targetOf(`${folder}/${name}`))
    const uploads = targets.filter((target) => target.startsWith(this.#uploadsFolder)).length
    const connections = targets.filter((target) => target.startsWith('socket:')).length
    return { connections, others: targets.length - connections - uploads, uploads }
  }

  filesInUploads(): number {
    return readdirSync(this.#uploadsFolder).length
  }

  async probe(): Promise<Probed> {
    const question = request({ socketPath: this.#probeSocket, agent: false }).end()
    const [answer] = (await once(question, 'response')) as [IncomingMessage]
    return JSON.parse(await text(answer)) as Probed
  }

  #status(field: 'VmRSS' | 'VmHWM'): number {
    const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8')
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
  }
}

/** It may be closed between the two looks. */
function targetOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
