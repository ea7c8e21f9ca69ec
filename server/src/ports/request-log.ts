import type { RequestRecord } from './observer.ts'

/** The outcome of each request, never its content. Rejects with `StoreUnreachable`; a record sent twice counts once. */
export interface RequestLogStore {
  append(records: readonly RequestRecord[]): Promise<void>
}
