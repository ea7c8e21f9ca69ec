/** The body of an answer with vectors in base64, as numbers one after another. */

export interface Vectors {
  readonly count: number
  readonly width: number
  readonly values: Float32Array
  readonly tokens: number
  /** By kind of part, where the answer says it: `text`, `image`. */
  readonly tokensByKind?: Readonly<Record<string, number>> | undefined
}

interface Body {
  readonly data: readonly { readonly index: number; readonly embedding: string | readonly number[] }[]
  readonly usage?: {
    readonly prompt_tokens?: number
    readonly prompt_tokens_details?: Readonly<Record<string, number>>
  }
}

export function vectorsIn(answer: ArrayBuffer): Vectors {
  const { data, usage } = JSON.parse(new TextDecoder().decode(answer)) as Body
  const decoded = data.map(({ embedding }) =>
    typeof embedding === 'string' ? fromBase64(embedding) : Float32Array.from(embedding),
  )
  const width = decoded[0]?.length ?? 0
  if (width === 0 || decoded.some((vector) => vector.length !== width))
    throw new RangeError('the vectors of one answer have different widths')
  const values = new Float32Array(width * decoded.length)
  for (const [place, { index }] of data.entries()) values.set(decoded[place]!, index * width)
  const details = usage?.prompt_tokens_details
  return {
    count: data.length,
    width,
    values,
    tokens: usage?.prompt_tokens ?? 0,
    tokensByKind: details && byKind(details),
  }
}

/** `{ text_tokens: 3 }` → `{ text: 3 }`. */
function byKind(details: Readonly<Record<string, number>>): Record<string, number> {
  const entries = Object.entries(details).filter(([name, tokens]) => name.endsWith('_tokens') && tokens > 0)
  return Object.fromEntries(entries.map(([name, tokens]) => [name.slice(0, -'_tokens'.length), tokens]))
}

/** Little-endian float32, whatever the order of this machine. */
function fromBase64(text: string): Float32Array {
  const letters = atob(text)
  const bytes = new DataView(new ArrayBuffer(letters.length))
  for (let i = 0; i < letters.length; i++) bytes.setUint8(i, letters.charCodeAt(i))
  return Float32Array.from({ length: letters.length / 4 }, (_, place) => bytes.getFloat32(place * 4, true))
}
