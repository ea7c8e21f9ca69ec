/** The names that the bytes of files are kept under: what has another name was put there by somebody else. */

const KEPT = /^(?:files\/file-|batches\/batch_)[0-9a-f]{32}\//

/** In the folder of a file or of a batch. */
export function isFileBlobName(name: string): boolean {
  return KEPT.test(name)
}

/** `uuid`: a UUIDv7. Ids of files sort by the time that they were made at. */
export function fileIdOf(uuid: string): string {
  return `file-${uuid.replaceAll('-', '')}`
}

/** All that is kept for one file. */
export function fileFolder(fileId: string): string {
  return `files/${fileId}/`
}

/** A piece of the bytes that came: the pieces of a form count from 0. */
export function fileBlobName(fileId: string, piece: string): string {
  return `${fileFolder(fileId)}${piece}`
}

/** Where the chunks of a scanned file are listed, one line of JSON for each. */
export function chunksBlobName(fileId: string): string {
  return `${fileFolder(fileId)}chunks`
}
