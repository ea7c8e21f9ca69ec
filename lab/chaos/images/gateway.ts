/** One gateway process, which is killed and not started again. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setTimeout as wait } from 'node:timers/promises'
import { GATEWAY_KEY } from '../../../server/test/support/gateway.ts'
import { bareEnvironment, PROGRAM, SOURCE_PROGRAM } from '../../../server/test/support/process.ts'
import { tied } from '../../../server/test/support/system.ts'
import type { Place } from './house.ts'

const PROBE = pathToFileURL(join(import.meta.dirname, 'gap-probe.ts'))
/** Several of them start together on a busy machine. */
const READY_MS = 180_000
const BANNER = /Base URL +(http:\/\/[^/\s]+)[\s\S]*Metrics +http/

export interface ImageGateway {
  readonly url: string
  /** Resolves when the process is gone. */
  kill9(): Promise<void>
  /** How it ended by itself, if it did. */
  crash(): string | undefined
}

export interface ImageGatewayOptions {
  /** Names its log and its data folder. */
  readonly name: string
  readonly dataDir: string
  readonly assets?: string
  /** Where its jobs are held, and the file that reports it. */
  readonly held?: { readonly place: string; readonly file: string } | undefined
}

export async function startImageGateway(
  { house, folder, assets, databaseUrl }: Place,
  options: ImageGatewayOptions,
): Promise<ImageGateway> {
  const program = options.held === undefined ? PROGRAM : SOURCE_PROGRAM
  const logFile = join(folder, `${options.name}.log`)
  const log = openSync(logFile, 'a')
  // If this process is killed, the system ends the gateway.
  const child = spawn(...tied([process.execPath, ...probeOptions(options.held), program, 'start']), {
    env: {
      ...bareEnvironment(),
      PORT: '0',
      CONTROL_PORT: '0',
      LOG_LEVEL: 'info',
      TORANA_CONFIG: join(house.folder, 'torana.yaml'),
      TORANA_DATA_DIR: join(folder, options.dataDir),
      TORANA_BOOTSTRAP_KEY: GATEWAY_KEY,
      TORANA_SECRET: 'the same secret on all gateways',
      DATABASE_URL: databaseUrl,
      ASSETS_URL: `file:${options.assets ?? assets}`,
    },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  let isKilled = false
  const exit = once(child, 'exit')
  const endMs = performance.now() + READY_MS
  for (;;) {
    const url = BANNER.exec(readFileSync(logFile, 'utf8'))?.[1]
    const hasEnded = child.exitCode !== null || child.signalCode !== null
    if (url !== undefined && !hasEnded) {
      return {
        url,
        async kill9() {
          isKilled = true
          child.kill('SIGKILL')
          await exit
        },
        crash() {
          const end = child.signalCode ?? child.exitCode
          return isKilled || end === null
            ? undefined
            : `a gateway ended by itself with ${end}: see ${logFile}`
        },
      }
    }
    if (hasEnded || performance.now() > endMs) {
      child.kill('SIGKILL')
      throw new Error(`a gateway does not get ready: see ${logFile}`)
    }
    await wait(50)
  }
}

function probeOptions(held: ImageGatewayOptions['held']): string[] {
  if (held === undefined) return []
  const probe = new URL(PROBE)
  probe.searchParams.set('place', held.place)
  probe.searchParams.set('file', held.file)
  return ['--import', probe.href]
}
