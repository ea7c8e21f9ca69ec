/** A node with the demo model. */
import { startTorana } from '../../torana.ts'

export interface DemoNode {
  readonly url: string
  readonly key: string
  readonly model: string
  /** One vector, as the numbers of its type. */
  numbersOf(text: string, type: string): Promise<readonly number[]>
  /** Vectors of many texts, in several types from each call. */
  vectorsOf(
    texts: readonly string[],
    types: readonly string[],
  ): Promise<ReadonlyMap<string, readonly Buffer[]>>
}

interface Answer {
  readonly data: readonly {
    readonly embedding: never
    readonly embeddings: Readonly<Record<string, string>>
  }[]
}

const MODEL = 'demo-embed'
const KEY = 'vector-types-key-00000001'
/** With a cache, so that every text is embedded once: all types are made of the float32 that it holds. */
const CONFIG = {
  upstreams: { demo: { dialect: 'demo' } },
  models: { [MODEL]: { cache: { ttl: '1h' }, deployments: [{ upstream: 'demo' }] } },
}
/** Within the timeout of a request, also on a busy machine. */
const TEXTS_PER_REQUEST = 40

export async function startDemoNode(folder: string): Promise<DemoNode> {
  const { url } = await startTorana({ folder, config: CONFIG, env: { TORANA_BOOTSTRAP_KEY: KEY } })
  const ask = async (body: object): Promise<Answer> => {
    const answer = await fetch(`${url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, ...body }),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as Answer
  }
  return {
    url,
    key: KEY,
    model: MODEL,
    async numbersOf(input, type) {
      const { data } = await ask({ input, output_dtype: type })
      const numbers = (data[0]?.embedding ?? []) as readonly number[]
      return type === 'float' ? [...new Float32Array(numbers)] : numbers
    },
    async vectorsOf(all, types) {
      const found = new Map(types.map((type) => [type, [] as Buffer[]]))
      for (let first = 0; first < all.length; first += TEXTS_PER_REQUEST) {
        const input = all.slice(first, first + TEXTS_PER_REQUEST)
        const { data } = await ask({ input, embedding_types: types, encoding_format: 'base64' })
        for (const { embeddings } of data)
          for (const type of types) found.get(type)?.push(Buffer.from(embeddings[type] ?? '', 'base64'))
      }
      return found
    },
  }
}
