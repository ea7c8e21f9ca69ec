/** Lines of a text that arrives in chunks. */
import { CommandProblem } from './command-problem.ts'

/** Longest line; a line is held in memory whole. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024

/**
 * The text of bytes in UTF-8, without a byte order mark. Characters that are cut between two chunks are joined. Throws a
 * `CommandProblem` where the bytes are no text: a wrong character would otherwise be embedded and paid for.
 */
export async function* decodeText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw new CommandProblem('The file is not text in UTF-8. Save it in UTF-8.')
    }
  }
  for await (const chunk of chunks) yield decode(chunk)
  yield decode()
}

/** Each line without its line break; undefined for one of more characters than `MAX_LINE_BYTES`, which is not kept. */
export async function* linesIn(texts: AsyncIterable<string>): AsyncGenerator<string | undefined> {
  let kept = ''
  let length = 0
  const keep = (text: string): void => {
    length += text.length
    kept = length > MAX_LINE_BYTES ? '' : kept + text
  }
  const line = (): string | undefined => {
    const text = length > MAX_LINE_BYTES ? undefined : kept
    kept = ''
    length = 0
    return text?.endsWith('\r') ? text.slice(0, -1) : text
  }
  for await (const text of texts) {
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      keep(text.slice(start, end))
      yield line()
      start = end + 1
    }
    keep(text.slice(start))
  }
  if (length > 0) yield line()
}

/** A JSON object, not an array, `null` or a plain value. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
