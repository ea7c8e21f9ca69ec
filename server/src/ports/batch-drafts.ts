/** Drafts of batches: files of rows that a person sent to choose a column and a model. They are gone after a day. */
import type { FileSegment } from './files.ts'

export interface BatchDraft {
  /** The id of the file that holds its bytes. Callers of the public API can't see that file. */
  readonly id: string
  readonly project: string
  /** The person or program that sent it. Its texts are shown to no other. */
  readonly actor: string
  readonly name: string
  readonly bytes: number
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

export interface NewBatchDraft extends Pick<BatchDraft, 'id' | 'project' | 'actor' | 'name' | 'bytes'> {
  readonly segments: readonly FileSegment[]
}

/**
 * Every method is one atomic step and may be repeated after a lost answer. An expired draft is never found. Store failures
 * reject with `StoreUnreachable`.
 */
export interface BatchDrafts {
  /** Keeps a file that has arrived in full for `DRAFT_MS`. Undefined when it was given up. */
  keep(draft: NewBatchDraft): Promise<BatchDraft | undefined>
  find(id: string, actor: string): Promise<BatchDraft | undefined>
  segments(id: string): Promise<readonly FileSegment[]>
  /** Whether there was such a draft. Its bytes are due for deletion. */
  delete(id: string, actor: string): Promise<boolean>
  /** The file of requests that was made for a run of these options. */
  madeFile(id: string, digest: string): Promise<string | undefined>
  /** Remembers the file of a run, unless another is remembered and still there: returns the one that counts. */
  keepMade(id: string, digest: string, fileId: string): Promise<string>
}

/** Life of a draft: a person who was interrupted finds it on the same day. */
export const DRAFT_MS = 24 * 3_600_000
