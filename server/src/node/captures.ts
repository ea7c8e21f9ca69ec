/** Opens the capture of inputs: what requests hold for it, and the deletion of what is old. */
import type { CaptureStore, InputCapture } from '#ports/captures.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { Captures } from '#worker/captures.ts'
import { every } from '#worker/every.ts'
import type { Basics } from './basics.ts'
import type { Directory } from './directory.ts'
import type { Stores } from './stores.ts'

/** Interval of deletions. What is older than its day is not shown either. */
const DELETE_MS = 60_000

export interface OpenCaptures extends AsyncDisposable {
  readonly capture: InputCapture
  readonly store: CaptureStore
}

export interface CapturesParts {
  readonly stores: Pick<Stores, 'captures' | 'isEldest' | 'pulse'>
  readonly directory: Pick<Directory, 'captures'>
}

export function openCaptures(
  { clock, log, metrics }: Basics,
  { stores, directory }: CapturesParts,
): OpenCaptures {
  const capture = new Captures({
    captures: directory.captures,
    store: stores.captures,
    clock,
    events: {
      dropped: (requests) => metrics.ledger.capturesDropped(requests),
      refused: (requests, error) => log.error({ requests, err: error }, 'PostgreSQL refused captured inputs'),
    },
  })
  const deletion = every(
    DELETE_MS,
    async () => {
      if (!stores.pulse.may('captures')) return
      if (await stores.isEldest()) await stores.captures.deleteOld(directory.captures)
    },
    (error) => {
      if (!(error instanceof StoreUnreachable))
        log.error({ err: error }, 'captured inputs could not be deleted')
    },
  )
  return {
    capture,
    store: stores.captures,
    async [Symbol.asyncDispose]() {
      await deletion.stop()
      await capture.close()
    },
  }
}
