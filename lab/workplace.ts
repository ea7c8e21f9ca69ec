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
  /** More of its settings, as `name=value`. */
  readonly settings?: readonly string[]
}

/** Belongs to an `await using`. */
export class Workplace implements AsyncDisposable {
  readonly folder: string
  readonly #servers: TestServer[] = []

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `torana-${name}-`))
  }

  async postgres({ core, memory = '16MB', settings = [] }: PostgresOptions = {}): Promise<TestServer> {
    return this.keep(await startPostgresServer({ memory, settings }), core)
  }

  async redis({ core }: ServerOptions = {}): Promise<TestServer> {
    return this.keep(await startRedisServer(), core)
  }

  /** A server that ends with the program. */
  keep(server: TestServer, core?: number): TestServer {
    this.#servers.push(server)
    if (core !== undefined) pinTo(core, server.pids())
    return server
  }

  /** Processes that use a server end before it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await stopAll()
    for (const server of this.#servers) await server.stop()
    rmSync(this.folder, { recursive: true, force: true })
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
