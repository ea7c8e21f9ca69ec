/** The answers of the OpenAI family after their images are extracted. */
import { isRecord } from '#core/text/record.ts'
import { UNKNOWN_TOKENS, type ImageUsage } from '#core/money/usage.ts'

export type Fields = Readonly<Record<string, unknown>>

type Tokens = ImageUsage['tokens']

const ECHOES = ['size', 'quality', 'background', 'output_format'] as const
/** Fields of an answer that are read, and those of an event. */
export const ANSWER_FIELDS: ReadonlySet<string> = new Set([...ECHOES, 'created', 'data', 'usage', 'error'])
export const EVENT_FIELDS: ReadonlySet<string> = new Set([
  ...ECHOES,
  'type',
  'b64_json',
  'url',
  'revised_prompt',
  'created_at',
  'usage',
  'error',
  'partial_image_index',
  'image_index',
])

export function echoesIn(fields: Fields): Fields {
  return Object.fromEntries(
    ECHOES.filter((name) => typeof fields[name] === 'string').map((name) => [name, fields[name]]),
  )
}

export function extraFieldsIn(fields: Fields, own: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !own.has(name)))
}

/** Counts by kind. Where only a sum is given, input is text and output is the image: a generation consists of these. */
export function tokensIn(usage: unknown): Tokens {
  if (!isRecord(usage)) return UNKNOWN_TOKENS
  const input = fieldsIn(usage, 'input_tokens_details')
  const output = fieldsIn(usage, 'output_tokens_details')
  const cached = fieldsIn(input, 'cached_tokens_details')
  const hasInputKinds =
    countIn(input, 'text_tokens') !== undefined || countIn(input, 'image_tokens') !== undefined
  const hasOutputKinds =
    countIn(output, 'text_tokens') !== undefined || countIn(output, 'image_tokens') !== undefined
  const imageInput = countIn(input, 'image_tokens')
  return {
    textInput: hasInputKinds ? countIn(input, 'text_tokens') : countIn(usage, 'input_tokens'),
    imageInput,
    textOutput: countIn(output, 'text_tokens'),
    imageOutput: hasOutputKinds ? countIn(output, 'image_tokens') : countIn(usage, 'output_tokens'),
    cachedTextInput:
      countIn(cached, 'text_tokens') ?? (imageInput ? undefined : countIn(input, 'cached_tokens')),
    cachedImageInput: countIn(cached, 'image_tokens'),
  }
}

/** The usage of the model that wrote an SVG, beside that of the image. Its reasoning is part of its output. */
export function svgTokensIn(svgUsage: unknown): Pick<Tokens, 'svgInput' | 'svgOutput'> {
  if (!isRecord(svgUsage)) return {}
  return {
    svgInput: countIn(svgUsage, 'input_tokens') ?? 0,
    svgOutput: countIn(svgUsage, 'output_tokens') ?? 0,
  }
}

function fieldsIn(fields: Fields, name: string): Fields {
  const value = fields[name]
  return isRecord(value) ? value : {}
}

function countIn(fields: Fields, name: string): number | undefined {
  const value = fields[name]
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

/** Whether an entry says that an image is withheld because of its content. */
export function isWithheld(item: Fields): boolean {
  return item['is_image_safe'] === false || item['respect_moderation'] === false
}
