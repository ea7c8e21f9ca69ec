/** The key under which the next call of a batch is made. */
import type { Batch } from '#ports/batches.ts'
import type { Key, TermsInForce } from '#ports/keys.ts'
import { keyNow } from '../access/terms-now.ts'

/** Rejects with a fault when nothing more may be bought for the batch. */
export async function batchKey(batch: Batch, terms: TermsInForce): Promise<Key> {
  const key = await keyNow(batch, batch.isContinued, terms)
  // Rate limits protect interactive callers. A batch is bound by its budget and by the capacity that
  // interactive requests leave.
  return { ...key, limits: [] }
}
