import { Refusal, requiredString, stringField, unknownFields, type Fields } from '../../wire.ts'
import type { ImageQuestion } from '../image-question.ts'
import { choiceField, sizeOf, wholeField } from '../image-wire.ts'
import { qualities } from '../usage.ts'

export const knownByOpenai = [
  'prompt model n size quality background output_format output_compression moderation stream',
  'partial_images user safety_identifier response_format style',
].flatMap((names) => names.split(' '))

/** Longer prompts are refused, as OpenAI does. */
const maxPromptCharacters = 32_000

export function openaiImageQuestion(fields: Fields, model: string): ImageQuestion {
  const prompt = requiredString(fields, 'prompt')
  if (prompt.length > maxPromptCharacters) {
    throw new Refusal(400, `Invalid 'prompt': at most ${maxPromptCharacters} characters.`, {
      code: 'string_above_max_length',
      param: 'prompt',
    })
  }
  for (const name of ['user', 'safety_identifier']) stringField(fields, name)
  choiceField(fields, 'quality', qualities)
  choiceField(fields, 'moderation', ['auto', 'low'])
  choiceField(fields, 'style', ['vivid', 'natural'])
  choiceField(fields, 'response_format', ['url', 'b64_json'])
  const asked = stringField(fields, 'size')
  const size = asked === 'auto' ? null : asked
  return {
    model,
    prompt,
    n: wholeField(fields, 'n', 1, Number.MAX_SAFE_INTEGER) ?? 1,
    size,
    ...sizeOf(size ?? '1024x1024'),
    ...look(fields),
    previews: previewsOf(fields),
    unknownFields: unknownFields(fields, knownByOpenai),
    fields,
  }
}

function look(fields: Fields): Pick<ImageQuestion, 'format' | 'quality' | 'transparent'> {
  const format = choiceField(fields, 'output_format', ['png', 'jpeg', 'webp']) ?? 'png'
  const quality = wholeField(fields, 'output_compression', 0, 100) ?? 100
  const transparent = choiceField(fields, 'background', ['transparent', 'opaque', 'auto']) === 'transparent'
  if (transparent && format === 'jpeg') {
    throw new Refusal(400, 'Transparent background is not supported for jpeg output.', {
      param: 'background',
    })
  }
  if (format === 'png' && quality < 100) {
    throw new Refusal(400, 'Compression less than 100 is not supported for png output format.', {
      code: 'invalid_png_output_compression',
      param: 'output_compression',
    })
  }
  return { format, quality, transparent }
}

function previewsOf(fields: Fields): number | null {
  const stream = fields['stream'] ?? false
  if (typeof stream !== 'boolean') throw new Refusal(400, "'stream' must be a boolean.", { param: 'stream' })
  const previews = wholeField(fields, 'partial_images', 0, 3)
  if (!stream && previews !== null) {
    throw new Refusal(400, "'partial_images' is only allowed when 'stream' is true.", {
      param: 'partial_images',
    })
  }
  return stream ? (previews ?? 0) : null
}
