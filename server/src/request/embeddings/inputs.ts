/** Prepares inputs for a call: decoding, prefixes, and the check that none is too long. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import { isText, type Content } from '#core/content/content.ts'
import type { Input, TokenIds } from '#core/embedding/input.ts'
import { Fault } from '#core/fault/fault.ts'
import type { KnownTokenizer } from '#ports/tokens.ts'
import { askerOf, type TokenContext } from './tokens.ts'

/** Turns token ids into texts for upstreams that read only texts. `placeOf` maps an input to its index in the request. */
export async function decodeTokens(
  context: TokenContext,
  input: Input,
  placeOf: (index: number) => number,
): Promise<Input> {
  const { tokenizer } = context.model.facts
  if (input.kind !== 'tokens' || tokenizer === 'none') return input
  const decoded = await context.outside.tokens.decode(input.tokens, tokenizer, askerOf(context))
  const texts = decoded.map((text, index) => {
    if (text !== undefined) return text
    const param = `input[${placeOf(index)}]`
    throw new Fault(
      'invalid_input',
      `${param} has a token id that the tokenizer ${tokenizer} does not know. Send the text instead.`,
      { param },
    )
  })
  return { kind: 'texts', texts }
}

export function withPrefix(input: Input, prefix: string): Input {
  switch (input.kind) {
    case 'texts':
      return { kind: 'texts', texts: input.texts.map((text) => prefix + text) }
    case 'contents':
      return { kind: 'contents', contents: input.contents.map((content) => prefixed(content, prefix)) }
    case 'tokens':
      return input
  }
}

/** Before its first text. A content without any text has no place for a prefix. */
function prefixed({ parts }: Content, prefix: string): Content {
  const first = parts.findIndex(isText)
  return {
    parts: parts.map((part, index) =>
      index === first && isText(part) ? { kind: 'text', text: prefix + part.text } : part,
    ),
  }
}

/** Largest error of the count of a text that is counted in steps. */
const INEXACT_MARGIN = 1.02

/**
 * Bytes of the longest token. A text with more bytes than this for each token of the model's limit is too
 * long without counting. In `cl100k_base` the longest token is 128 spaces.
 */
export const LONGEST_TOKEN_BYTES: Readonly<Record<KnownTokenizer, number>> = { cl100k_base: 128 }

/**
 * Refuses an input that the model can't read whole, since many upstreams would silently truncate it. A text
 * with no more bytes than the model's token limit is not counted, nor is one that is too long by its bytes
 * alone. Without the model's tokenizer, the upstream decides. Undefined when Torana counted nothing, else the tokens by
 * text.
 */
export function checkLengths(context: TokenContext, input: Input): Promise<Map<string, number>> | undefined {
  const { model, outside } = context
  const { maxInputTokens, tokenizer, tokenCounts } = model.facts
  if (maxInputTokens === undefined || tokenCounts !== 'exact') return undefined
  if (input.kind === 'tokens') {
    const index = input.tokens.findIndex((entry) => entry.length > maxInputTokens)
    if (index !== -1)
      throw tooLong(model, index, `${(input.tokens[index] as TokenIds).length}`, maxInputTokens)
    return undefined
  }
  // Only the upstream knows how many tokens media have.
  if (tokenizer === 'none' || input.kind === 'contents') return undefined
  let long: number[] | undefined
  for (let index = 0; index < input.texts.length; index += 1) {
    const text = input.texts[index] as string
    // Cheap bounds first: a UTF-16 unit is at most three bytes.
    if (text.length * 3 <= maxInputTokens) continue
    const bytes = outside.bytesOf(text)
    if (bytes > maxInputTokens * LONGEST_TOKEN_BYTES[tokenizer])
      throw tooLong(model, index, `more than ${maxInputTokens}`, maxInputTokens)
    if (bytes > maxInputTokens) (long ??= []).push(index)
  }
  return long && countLengths(context, input.texts, long, tokenizer, maxInputTokens)
}

async function countLengths(
  context: TokenContext,
  texts: readonly string[],
  long: readonly number[],
  tokenizer: KnownTokenizer,
  maxInputTokens: number,
): Promise<Map<string, number>> {
  const { model, outside } = context
  const counts = await outside.tokens.count(
    long.map((index) => texts[index] as string),
    tokenizer,
    { ...askerOf(context), most: Math.ceil(maxInputTokens * INEXACT_MARGIN) },
  )
  for (const [position, { tokens: count, exact }] of counts.entries()) {
    if (count > maxInputTokens * (exact ? 1 : INEXACT_MARGIN)) {
      const words = exact ? `${count}` : `more than ${maxInputTokens}`
      throw tooLong(model, long[position] as number, words, maxInputTokens)
    }
  }
  return new Map(counts.map(({ tokens }, position) => [texts[long[position] as number] as string, tokens]))
}

function tooLong(model: EmbeddingModel, index: number, count: string, limit: number): Fault {
  return new Fault(
    'input_too_long',
    `input[${index}] has ${count} tokens; '${model.id}' reads at most ${limit}. Split the text.`,
    {
      param: `input[${index}]`,
    },
  )
}
