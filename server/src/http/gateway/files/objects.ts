/** Files as OpenAI's clients know them. */
import type { ListedFile } from '#ports/files.ts'

export interface FileObject {
  readonly id: string
  readonly object: 'file'
  readonly bytes: number
  readonly created_at: number
  readonly expires_at: number | null
  readonly filename: string
  readonly purpose: string
  /** Clients poll until it is `processed`: a file that is there has been read. */
  readonly status: 'processed'
  readonly status_details: null
}

export function fileObject(file: ListedFile): FileObject {
  const { id, bytes, createdAtMs, expiresAtMs, filename, purpose } = file
  return {
    id,
    object: 'file',
    bytes,
    created_at: Math.floor(createdAtMs / 1000),
    expires_at: expiresAtMs === undefined ? null : Math.floor(expiresAtMs / 1000),
    filename,
    purpose,
    status: 'processed',
    status_details: null,
  }
}

export function fileList(files: readonly ListedFile[], hasMore: boolean): object {
  return {
    object: 'list',
    data: files.map(fileObject),
    first_id: files[0]?.id ?? null,
    last_id: files.at(-1)?.id ?? null,
    has_more: hasMore,
  }
}
