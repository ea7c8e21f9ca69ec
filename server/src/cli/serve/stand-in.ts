/**
 * Takes connections in the place of workers while none of them does, and hands them to the next one. Node's cluster closes a port when
 * its last worker dies; callers would be refused until another one has started. Nothing is read from a connection here.
 */
import type { Worker } from 'node:cluster'
import { createServer, type Server, type Socket } from 'node:net'
import type { PortName } from '#http/listeners.ts'
import type { Log } from '#telemetry/log.ts'
import type { ToWorker } from './worker-messages.ts'

/** Connections held for each port: each takes a file descriptor, of which a process has 1024 as a rule. More are closed. */
const MAX_HELD = 400
/**
 * How long a connection is held: a worker starts in two seconds, in seven on a busy machine. One that takes longer does not start, and balancers
 * should go elsewhere: the ports are closed then.
 */
const MAX_HELD_MS = 30_000

export interface Address {
  readonly name: PortName
  readonly host: string
  readonly port: number
}

interface Held {
  readonly name: PortName
  readonly socket: Socket
}

export class StandIn {
  readonly #addresses: readonly Address[]
  readonly #log: Log
  readonly #servers = new Map<number, Server>()
  readonly #held = new Set<Held>()
  #late: NodeJS.Timeout | undefined

  constructor(addresses: readonly Address[], log: Log) {
    this.#addresses = addresses
    this.#log = log
  }

  /** The last worker that took connections has died. */
  begin(): void {
    if (this.#late !== undefined) return
    this.#late = setTimeout(() => this.#giveUp(), MAX_HELD_MS).unref()
    for (const { name, host, port } of this.#addresses) {
      const server = createServer({ pauseOnConnect: true }, (socket) => this.#hold({ name, socket }))
      server.on('error', (error) =>
        this.#log.warn({ err: error, port }, 'the port is closed until a worker takes it'),
      )
      this.#servers.set(port, server.listen({ host, port }))
    }
  }

  /** A worker is about to take this port. What is held stays. */
  release(port: number | null | undefined): void {
    if (port === null || port === undefined) return
    this.#servers.get(port)?.close()
    this.#servers.delete(port)
  }

  /** This worker takes requests: it gets all that was held. */
  handTo({ process: child }: Worker): void {
    for (const one of this.#held) {
      this.#held.delete(one)
      const message: ToWorker = { kind: 'connection', to: one.name }
      child.send(message, one.socket, (error) => {
        if (error !== null) one.socket.destroy()
      })
    }
    this.end()
  }

  /** Closes what is still held. */
  end(): void {
    clearTimeout(this.#late)
    this.#late = undefined
    for (const port of this.#servers.keys()) this.release(port)
    for (const { socket } of this.#held) socket.destroy()
    this.#held.clear()
  }

  #hold(held: Held): void {
    const { socket } = held
    socket.on('error', () => {})
    if (this.#held.size >= MAX_HELD * this.#addresses.length) {
      socket.destroy()
      return
    }
    this.#held.add(held)
    socket.once('close', () => this.#held.delete(held))
  }

  #giveUp(): void {
    const { size } = this.#held
    this.#log.error(
      { connections: size },
      'no worker has started for 30 s: the ports are closed until one has',
    )
    this.end()
  }
}
