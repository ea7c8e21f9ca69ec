/** The results of a batch as a file of vectors, in the order of its lines, read part by part. */
import { partName } from '#core/batch/part.ts'
import { isOfPictures } from '#core/batch/request.ts'
import { readSpace } from '#core/embedding/space.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Batch, Batches, DonePart } from '#ports/batches.ts'
import type { BlobStore } from '#ports/blobs.ts'
import { StoreUnreachable } from '#ports/store.ts'
import {
  VectorFileProblem,
  type VectorFile,
  type VectorFileFormat,
  type VectorFiles,
  type VectorNumbers,
} from '#ports/vector-files.ts'

export interface VectorResultsOutside {
  readonly batches: Pick<Batches, 'parts'>
  readonly fileBlobs: Pick<BlobStore, 'open'>
  readonly vectorFiles: VectorFiles
}

const PAGE = 1000

/** Rejects before the first bytes when the batch has no vectors, or those of several spaces. */
export async function* vectorResults(
  batch: Batch,
  format: VectorFileFormat,
  { batches, fileBlobs, vectorFiles }: VectorResultsOutside,
): AsyncGenerator<Uint8Array> {
  const [space = ''] = checkedSpaces(batch)
  const parts = await partsInOrder(batch.id, batches)
  const file = vectorFiles.open({
    format,
    model: batch.model ?? '',
    space,
    numbers: numbersOf(space),
    rows: batch.corpusRows ?? batch.completed + batch.failed,
    hasRowIds: batch.corpusRows !== undefined,
  })
  try {
    for (const [index, part] of parts.entries()) {
      const before = parts[index + 1]?.firstLine ?? Infinity
      await file.take(await linesOf(batch.id, part, fileBlobs), before)
      yield* nextOf(file)
    }
    await file.end()
    yield* nextOf(file)
  } catch (error) {
    if (!(error instanceof VectorFileProblem)) throw error
    throw new Fault('invalid_parameter', error.message, { param: 'format' })
  } finally {
    await file.discard()
  }
}

async function* nextOf(file: VectorFile): AsyncGenerator<Uint8Array> {
  for (let bytes = await file.next(); bytes !== undefined; bytes = await file.next())
    if (bytes.length > 0) yield bytes
}

function checkedSpaces({ id, endpoint, spaces, completed }: Batch): readonly string[] {
  const refuse = (message: string): Fault => new Fault('invalid_parameter', message, { param: 'format' })
  if (isOfPictures(endpoint)) throw refuse(`Batch ${id} makes images. Download its output as JSON lines.`)
  if (completed === 0) throw new Fault('not_found', `Batch ${id} has no vectors yet.`)
  if (spaces.length > 1)
    throw refuse(
      `The vectors of batch ${id} belong to ${spaces.length} spaces, and a file has those of one. Download its output as JSON lines.`,
    )
  return spaces
}

const NUMBERS: Readonly<Record<string, VectorNumbers>> = {
  float16: 'float16',
  int8: 'int8',
  uint8: 'uint8',
  binary: 'binary',
  ubinary: 'ubinary',
}

/** A space of vectors that are not float32 names their type behind a slash. */
function numbersOf(space: string): VectorNumbers {
  const float = readSpace(space)?.float ?? space
  const type = space.slice(float.length + 1).split(':')[0] ?? ''
  return NUMBERS[type] ?? 'float32'
}

/** By their first lines: a part holds no line before its first. */
async function partsInOrder(batchId: string, batches: Pick<Batches, 'parts'>): Promise<readonly DonePart[]> {
  const parts: DonePart[] = []
  for (let after: number | undefined; ;) {
    const page = await batches.parts(batchId, { after, limit: PAGE })
    parts.push(...page)
    if (page.length < PAGE) return parts.sort((one, other) => one.firstLine - other.firstLine)
    after = page.at(-1)?.number
  }
}

/** Both halves: lines that failed keep the place of their row. */
async function linesOf(
  batchId: string,
  { chunk, token, headBytes, outputBytes, errorBytes }: DonePart,
  blobs: Pick<BlobStore, 'open'>,
): Promise<Uint8Array<ArrayBuffer>> {
  const name = partName(batchId, chunk, token)
  const bytes = new Uint8Array(outputBytes + errorBytes)
  if (bytes.length === 0) return bytes
  const blob = await blobs.open(name, { first: headBytes, last: headBytes + bytes.length - 1 })
  if (blob === undefined) throw new StoreUnreachable(`${name} is missing`)
  let at = 0
  for await (const piece of blob.bytes) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
