import { answerCases } from './protocol.js'

/** `embed` is the library under test: it returns `{vectors, tokens?}`. */
export async function answerVectors(embed, describe) {
  await answerCases(async ({ inputs, ...asked }, { lists }) => {
    const { vectors, tokens } = await embed({ ...asked, texts: lists[inputs] })
    return { vectors: vectors.map(base64Of), tokens }
  }, describe)
}

/** Little-endian float32. A value that is no float32 is rounded, so it shows only if the client changed it. */
export function base64Of(values) {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [position, value] of values.entries()) bytes.writeFloatLE(value, position * 4)
  return bytes.toString('base64')
}
