/** The names under which the bytes of files are kept: a blob with another name is not ours. */

const KEPT = /^(?:files\/file-|batches\/batch_)[0-9a-f]{32}\//

/** In the folder of a file or of a batch. */
export function isFileBlobName(name: string): boolean {
  return KEPT.test(name)
}

/** `uuid`: a UUIDv7. File ids sort by the time of creation. */
export function fileIdOf(uuid: string): string {
  return `file-${uuid.replaceAll('-', '')}`
}

/** The folder of everything that is kept for one file. */
export function fileFolder(fileId: string): string {
  return `files/${fileId}/`
}

/** A part of the received bytes: the parts of a form count from 0. */
export function fileBlobName(fileId: string, piece: string): string {
  return `${fileFolder(fileId)}${piece}`
}

/** The list of a scanned file's chunks, one line of JSON for each. */
export function chunksBlobName(fileId: string): string {
  return `${fileFolder(fileId)}chunks`
}
