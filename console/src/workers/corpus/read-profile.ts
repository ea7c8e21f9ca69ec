/** Reads a file once, to know what it holds. */
import { usualColumns } from 'torana-bulk/corpus'
import { CommandProblem } from 'torana-bulk/problem'
import { CorpusProfiler, type CorpusProfile } from './profile.ts'
import { countBytes, openSource } from './source.ts'

/** Bytes that are read between two reports. */
const STEP_BYTES = 4 * 1024 * 1024

/** Yields the bytes that have been read so far. */
export async function* readProfile(file: File): AsyncGenerator<number, CorpusProfile> {
  const source = await openSource(file)
  const profiler = new CorpusProfiler(countBytes)
  let reported = 0
  for await (const row of source.rows()) {
    profiler.add(row)
    if (source.readBytes() < reported + STEP_BYTES) continue
    reported = source.readBytes()
    yield reported
  }
  if (profiler.rows === 0)
    throw new CommandProblem('The file has no rows. The first line of a CSV names its columns.')
  return profiler.result(source.format, usualColumns)
}
