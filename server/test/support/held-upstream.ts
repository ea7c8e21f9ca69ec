/** An upstream that serves the calls of a test when the test says so, so that nothing depends on how long a call takes. */
import assert from 'node:assert/strict'
import type { FakeProvider } from '../../../lab/fake-provider/server.ts'
import { eventually } from './process.ts'

/** `mode-<name>` of a fake provider, for a deployment that takes one call at a time. */
export class HeldUpstream {
  readonly #provider: FakeProvider
  readonly #name: string

  constructor(provider: FakeProvider, name: string) {
    this.#provider = provider
    this.#name = name
  }

  /** Calls wait from now on. */
  async hold(): Promise<void> {
    await this.#provider.setMode(this.#name, { mode: 'hold' })
  }

  /** Serves the call that waits, and all further ones. */
  async release(): Promise<void> {
    await this.#provider.setMode(this.#name)
  }

  /** Resolves when a call waits. */
  async isAsked(): Promise<void> {
    await eventually(async () => assert.equal(this.#provider.mode(this.#name).inFlight, 1))
  }

  /** Serves this many calls, one after another, and holds the next one. */
  async serve(calls = 1): Promise<void> {
    const enough = this.#served + calls
    while (this.#served < enough) {
      const before = this.#served
      await this.isAsked()
      await this.release()
      await this.hold()
      await eventually(async () => assert.ok(this.#served > before))
    }
  }

  get #served(): number {
    return this.#provider.mode(this.#name).served
  }
}
