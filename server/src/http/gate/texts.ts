/** One check of callers' texts for each way in: paths and queries on both ports, and JSON that is stored. */
import { Fault } from '#core/fault/fault.ts'
import { unstorableIn } from '#core/text/storable.ts'

/** Percent-encoded: a NUL, or half of a surrogate pair. */
const UNSTORABLE = /%00|%ed%[ab][0-9a-f]/i
/** Longest part of a path or of a place that a message repeats. */
const SHOWN_LENGTH = 200

const WHY = 'a NUL character or half of a surrogate pair, which no text here can have'

/** Throws a fault: nothing has such a name, and no store accepts it as a search term. Without a `%` it costs one search. */
export function checkUrl(method: string, url: string): void {
  if (!url.includes('%')) return
  const [path = '', query] = url.split('?', 2)
  if (UNSTORABLE.test(path))
    throw new Fault(
      'unknown_path',
      `${method} ${path.slice(0, SHOWN_LENGTH)} does not exist: the path holds ${WHY}.`,
    )
  for (const pair of query?.split('&') ?? [])
    if (UNSTORABLE.test(pair)) {
      const name = pair.split('=', 1)[0]?.slice(0, SHOWN_LENGTH) ?? ''
      throw new Fault('invalid_parameter', `${name} in the query holds ${WHY}.`, { param: name })
    }
}

/** For JSON whose texts are stored or looked up. Texts to embed and prompts are passed on unchanged and are not checked here. */
export function checkTexts(body: unknown): void {
  const place = unstorableIn(body)?.slice(0, SHOWN_LENGTH)
  if (place !== undefined)
    throw new Fault('invalid_parameter', `${place || 'The body'} has ${WHY}. Send it without.`, {
      param: place || undefined,
    })
}
