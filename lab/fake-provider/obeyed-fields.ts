/**
 * What embedding servers do with fields that OpenAI does not have, for `obeys-fields`. Each field changes the vectors in the way in
 * which it does there: by other words before the text, by less of the text, by the neighbours, by the length, or by the type of the
 * numbers.
 */
import type { Encoding, Fields, Question } from './wire.ts'
import { typedNumbers } from './vector-types.ts'
import { base64Of } from './vectors.ts'

/** Fields that make other vectors of the same texts, with values that do, as the servers' own APIs have them. */
export const vectorFields: readonly { server: string; fields: Fields }[] = [
  { server: 'Jina', fields: { task: 'separation' } },
  { server: 'Jina', fields: { task: 'retrieval.query' } },
  { server: 'Jina', fields: { late_chunking: true } },
  { server: 'Jina', fields: { truncate: true } },
  { server: 'Jina', fields: { normalized: false } },
  { server: 'Jina', fields: { embedding_type: 'binary' } },
  { server: 'Jina', fields: { embedding_type: 'ubinary' } },
  { server: 'vLLM', fields: { truncate_prompt_tokens: 2 } },
  { server: 'vLLM', fields: { truncate_prompt_tokens: 2, truncation_side: 'left' } },
  { server: 'vLLM', fields: { padding: 'max_length' } },
  { server: 'vLLM', fields: { add_special_tokens: false } },
  { server: 'vLLM', fields: { mm_processor_kwargs: { num_crops: 4 } } },
  { server: 'vLLM', fields: { media_io_kwargs: { image: { mode: 'L' } } } },
  { server: 'vLLM', fields: { chat_template: '{{ messages }}' } },
  { server: 'vLLM', fields: { chat_template_kwargs: { language: 'en' } } },
  { server: 'vLLM', fields: { add_generation_prompt: true } },
  { server: 'vLLM', fields: { continue_final_message: true } },
  { server: 'vLLM', fields: { use_activation: false } },
  { server: 'vLLM', fields: { embed_dtype: 'float16' } },
  { server: 'vLLM', fields: { embed_dtype: 'fp8_e4m3' } },
  { server: 'vLLM', fields: { endianness: 'big' } },
  { server: 'TEI', fields: { prompt_name: 'query' } },
  { server: 'TEI', fields: { normalize: false } },
  { server: 'TEI', fields: { truncate: true } },
  { server: 'TEI', fields: { truncate: true, truncation_direction: 'left' } },
  { server: 'Cohere', fields: { truncate: 'START' } },
  { server: 'Cohere', fields: { truncate: 'END' } },
  { server: 'Cohere', fields: { max_tokens: 2 } },
  { server: 'Cohere', fields: { embedding_types: ['int8'] } },
  { server: 'Cohere', fields: { embedding_types: ['uint8'] } },
  { server: 'Cohere', fields: { embedding_types: ['ubinary'] } },
  { server: 'Voyage', fields: { truncation: true } },
  { server: 'Voyage', fields: { output_dtype: 'int8' } },
  { server: 'Voyage', fields: { output_dtype: 'binary' } },
  { server: 'Infinity', fields: { modality: 'image' } },
  { server: 'Mixedbread', fields: { prompt: 'Represent this sentence' } },
  { server: 'an instruct model', fields: { instruction: 'Given a question, find its answer' } },
]

/** Become words before each text, or change how it is read. */
const said = [
  'task',
  'prompt_name',
  'prompt',
  'instruction',
  'chat_template',
  'chat_template_kwargs',
  'add_generation_prompt',
  'continue_final_message',
  'add_special_tokens',
  'mm_processor_kwargs',
  'media_io_kwargs',
  'padding',
  'modality',
]
const cutting = ['truncate', 'truncation', 'max_tokens', 'truncate_prompt_tokens']
const unscaling = ['normalized', 'normalize', 'use_activation']
const typing = ['embedding_type', 'embedding_types', 'output_dtype', 'embed_dtype']
/** Characters that are left of a text where a field asks for cutting and says no number. */
const cutCharacters = 16
const charactersPerToken = 4

/** What the model reads of one text. */
export function readText({ fields, texts }: Pick<Question, 'fields' | 'texts'>, text: string): string {
  const words = said.filter((name) => name in fields).map((name) => `${name}=${JSON.stringify(fields[name])}`)
  const neighbours = fields['late_chunking'] === true ? texts.join('\n') : ''
  return [...words, neighbours, cut(fields, text)].filter((part) => part !== '').join(': ')
}

function cut(fields: Fields, text: string): string {
  const given = cutting
    .map((name) => fields[name] ?? false)
    .find((value) => value !== false && value !== 'NONE')
  if (given === undefined) return text
  const characters = typeof given === 'number' ? given * charactersPerToken : cutCharacters
  const side = fields['truncation_side'] ?? fields['truncation_direction'] ?? given
  return side === 'left' || side === 'START' ? text.slice(-characters) : text.slice(0, characters)
}

/** Without normalisation, a vector has the length that the model gave it. */
export function lengthOf(fields: Fields): number {
  return unscaling.some((name) => fields[name] === false) ? 3 : 1
}

/** A vector of another type than float32, as JSON. Null: it is float32. */
export function obeyedText(fields: Fields, vector: Float32Array, encoding: Encoding): string | null {
  const isBase64 = encoding === 'base64'
  if (isBase64 && fields['endianness'] === 'big')
    return `"${Buffer.from(base64Of(vector), 'base64').swap32().toString('base64')}"`
  const [type] = typing.flatMap((name) => fields[name] ?? [])
  if (type === 'int8' || type === 'uint8' || type === 'binary' || type === 'ubinary') {
    return JSON.stringify(typedNumbers(vector, type, 127))
  }
  // Numbers as JSON stay what they are.
  if (type === 'float16' && isBase64) return `"${Buffer.alloc(vector.length * 2, 1).toString('base64')}"`
  if (type === 'fp8_e4m3' && isBase64) return `"${Buffer.alloc(vector.length, 1).toString('base64')}"`
  return null
}
