/** Captured inputs in memory, without a bound: for nodes that end with their test. */
import { CAPTURED_MS, type CapturedRequest, type CaptureStore } from '#ports/captures.ts'
import type { Clock } from '#ports/clock.ts'

export class MemoryCaptures implements CaptureStore {
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #requests = new Map<string, CapturedRequest>()

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock
  }

  async append(requests: readonly CapturedRequest[]): Promise<void> {
    for (const request of requests) this.#requests.set(request.requestId, request)
  }

  async find(requestId: string): Promise<CapturedRequest | undefined> {
    const found = this.#requests.get(requestId)
    return found && this.#clock.nowMs() - found.capturedAtMs < CAPTURED_MS ? found : undefined
  }

  async open(requestId: string): Promise<CapturedRequest['input'] | undefined> {
    return (await this.find(requestId))?.input
  }

  async deleteOld(captures: (project: string) => boolean): Promise<number> {
    const old = [...this.#requests.values()].filter(
      ({ project, capturedAtMs }) => !captures(project) || this.#clock.nowMs() - capturedAtMs >= CAPTURED_MS,
    )
    for (const { requestId } of old) this.#requests.delete(requestId)
    return old.length
  }
}
