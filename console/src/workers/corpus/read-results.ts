/** Loads the results of a batch, and makes a file of their vectors. */
import { decodeText, linesIn } from 'torana-bulk/json-lines'
import type { WantedResults } from '../corpus.ts'
import { chunksIn } from './source.ts'
import { VectorRows } from './vector-rows.ts'

/** Loading and parsing takes about this share of the time, writing the rest. */
const LOADED = 0.8
/** Bytes that are loaded between two reports. */
const STEP_BYTES = 4 * 1024 * 1024

/** Yields the share that is done. */
export async function* convertResults({ files, ...wanted }: WantedResults): AsyncGenerator<number, Blob> {
  const rows = new VectorRows(wanted)
  const all = Math.max(
    1,
    files.reduce((sum, { bytes }) => sum + bytes, 0),
  )
  let loaded = 0
  for (const { url } of files) {
    let reported = loaded
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunksIn(await load(url))) {
        loaded += chunk.length
        yield chunk
      }
    }
    for await (const line of linesIn(decodeText(chunks()))) {
      if (line === undefined) throw new Error('A line of the results is longer than any vector.')
      if (line !== '') rows.take(line)
      if (loaded < reported + STEP_BYTES) continue
      reported = loaded
      yield Math.min(1, loaded / all) * LOADED
    }
  }
  const writing = rows.write()
  for (let step = await writing.next(); ; step = await writing.next()) {
    if (step.done === true) return step.value
    yield LOADED + step.value * (1 - LOADED)
  }
}

async function load(url: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const answer = await fetch(url)
  if (answer.ok && answer.body !== null) return answer.body
  const said = (await answer.json().catch(() => undefined)) as
    | { readonly error?: { readonly message?: string } }
    | undefined
  throw new Error(said?.error?.message ?? `The node answered ${answer.status}.`)
}
