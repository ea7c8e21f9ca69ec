/** The files with the results of a batch. */
import type { Batch } from '#ports/batches.ts'
import type { OutputFile } from '#ports/files.ts'

/** The files with their size so far. A half without results has no file. */
export function outputFiles(batch: Batch, nowMs: number): readonly OutputFile[] {
  const { id, project, keyId, resultsKeptMs } = batch
  const fileOf = (half: 'output' | 'error', fileId: string, bytes: number): readonly OutputFile[] =>
    bytes === 0
      ? []
      : [
          {
            id: fileId,
            project,
            keyId,
            purpose: 'batch_output',
            filename: `${id}_${half}.jsonl`,
            bytes,
            createdAtMs: nowMs,
            expiresAtMs: nowMs + resultsKeptMs,
            source: { kind: 'batch', batchId: id, half },
          },
        ]
  return [
    ...fileOf('output', batch.outputFileId, batch.outputBytes),
    ...fileOf('error', batch.errorFileId, batch.errorBytes),
  ]
}
