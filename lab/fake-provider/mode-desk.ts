import { behaviourOf, wellBehaved, type Behaviour } from './behaviour.ts'
import type { ModeReport, Modes } from './modes.ts'
import type { OwnPorts } from './own-ports.ts'
import { Refusal, requiredString, type Fields } from './wire.ts'

/** Where the behaviour of upstreams is changed and read, over HTTP and from the same process. */
export class ModeDesk {
  readonly #modes: Modes
  readonly #ports: OwnPorts

  constructor(modes: Modes, ports: OwnPorts) {
    this.#modes = modes
    this.#ports = ports
  }

  /** Answers `/_mode` and `/_port`. */
  async answer(method: string, url: URL, fields: Fields): Promise<unknown> {
    const name = url.searchParams.get('name')
    if (method === 'POST') {
      const { name: _, ...rest } = fields
      const named = nameIn(fields)
      if (url.pathname === '/_mode') return await this.set(named, behaviourOf(rest))
      return { name: named, url: await this.openPort(named) }
    }
    if (url.pathname === '/_port') throw new Refusal(405, '/_port takes POST {"name"}.')
    if (method === 'DELETE') return await this.#forget(name)
    if (name !== null) return this.#modes.named(name).report()
    return Object.fromEntries(this.#modes.all().map((mode) => [mode.name, mode.report()]))
  }

  report(name: string): ModeReport {
    return this.#modes.named(name).report()
  }

  async set(name: string, behaviour: Behaviour): Promise<ModeReport> {
    const refuses = behaviour.mode === 'refuse-connections'
    if (refuses && !this.#ports.has(name)) {
      throw new Refusal(400, `${name} has no port of its own that could refuse: POST /_port {"name"} first.`)
    }
    const mode = this.#modes.named(name)
    mode.behave(behaviour)
    if (refuses) await this.#ports.shut(name)
    else if (this.#ports.has(name)) await this.#ports.open(name)
    return mode.report()
  }

  async openPort(name: string): Promise<string> {
    const mode = this.#modes.named(name)
    mode.url ??= await this.#ports.open(name)
    return mode.url
  }

  async #forget(name: string | null): Promise<unknown> {
    const modes = name === null ? this.#modes.all() : [this.#modes.named(name)]
    for (const mode of modes) {
      await this.set(mode.name, wellBehaved)
      mode.resetCounters()
    }
    return { forgotten: modes.map((mode) => mode.name) }
  }
}

function nameIn(fields: Fields): string {
  const name = requiredString(fields, 'name')
  if (!/^[\w.-]+$/.test(name)) throw new Refusal(400, "'name' has letters, digits, _, - and . alone.")
  return name
}
