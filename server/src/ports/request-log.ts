import type { RequestRecord } from './observer.ts'

/** What became of each request, never what was in it. Rejects with `StoreAway`; a record sent twice counts once. */
export interface RequestLogStore {
  append(records: readonly RequestRecord[]): Promise<void>
}
