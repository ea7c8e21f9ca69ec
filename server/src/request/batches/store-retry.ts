import { StoreUnreachable } from '#ports/store.ts'
import type { ChunkOrders } from './run-lines.ts'

/** Wait before paid results are offered to the store again. */
const KEEP_AGAIN_MS = 2000

/** Retries work that keeps paid results until the store is reachable, or until the chunk must end. */
export function retryWhileStoreUnreachable(
  { stop }: Pick<ChunkOrders, 'stop'>,
  { wait }: { readonly wait: (ms: number) => Promise<unknown> },
) {
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof StoreUnreachable) || stop.isUp) throw error
        await wait(KEEP_AGAIN_MS)
      }
    }
  }
}
