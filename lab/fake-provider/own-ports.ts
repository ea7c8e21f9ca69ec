import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A port of its own for single upstreams, so that one refuses connections while the others take them. */
export class OwnPorts {
  readonly #host: string
  readonly #newServer: () => Server
  readonly #doors = new Map<string, { server: Server; port: number }>()

  constructor(host: string, newServer: () => Server) {
    this.#host = host
    this.#newServer = newServer
  }

  has(name: string): boolean {
    return this.#doors.has(name)
  }

  /** The URL of the port; it stays the same as long as the provider runs. */
  async open(name: string): Promise<string> {
    const door = this.#doors.get(name) ?? { server: this.#newServer(), port: 0 }
    this.#doors.set(name, door)
    if (!door.server.listening) {
      door.server.listen(door.port, this.#host)
      await once(door.server, 'listening')
      door.port = (door.server.address() as AddressInfo).port
    }
    return `http://${this.#host}:${door.port}`
  }

  /** Ends what is connected, and takes no more. */
  async shut(name: string): Promise<void> {
    const server = this.#doors.get(name)?.server
    if (server === undefined || !server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  async shutAll(): Promise<void> {
    for (const name of this.#doors.keys()) await this.shut(name)
  }
}
