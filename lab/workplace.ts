/** Where a program of the lab works: a temporary folder, servers, and an end at which all that was started is stopped. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgresServer, startRedisServer, type TestServer } from '../server/test/support/servers.ts'
import { stopAll } from './processes.ts'

export interface ServerOptions {
  /** Its only core. Undefined: any. */
  readonly core?: number
}

export interface PostgresOptions extends ServerOptions {
  /** Its shared buffers. */
  readonly memory?: string
}

/** Belongs to an `await using`. */
export class Workplace implements AsyncDisposable {
  readonly folder: string
  readonly #servers: TestServer[] = []

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `torana-${name}-`))
  }

  async postgres({ core, memory = '16MB' }: PostgresOptions = {}): Promise<TestServer> {
    return this.#keep(await startPostgresServer({ memory }), core)
  }

  async redis({ core }: ServerOptions = {}): Promise<TestServer> {
    return this.#keep(await startRedisServer(), core)
  }

  /** Processes that use a server end before it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await stopAll()
    for (const server of this.#servers) await server.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  #keep(server: TestServer, core: number | undefined): TestServer {
    this.#servers.push(server)
    if (core !== undefined) pinTo(core, server.pids())
    return server
  }
}

/** The cores of processes that run already. */
export function pinTo(cores: number | string, pids: readonly number[]): void {
  for (const pid of pids)
    try {
      execFileSync('taskset', ['-acp', String(cores), String(pid)], { stdio: 'pipe' })
    } catch (error) {
      // A helper of PostgreSQL may have ended since it was listed.
      if (!String(error).includes('No such process')) throw error
    }
}
