import { openaiError } from '../../openai-wire.ts'
import type { Fields, Refusal as RefusalType } from '../../wire.ts'
import { Refusal, requiredString, stringField, unknownFields } from '../../wire.ts'
import type { ImageAnswer, ImageQuestion, ImageWire, Written } from '../image-wire.ts'
import { choiceField, sizeOf, wholeField } from '../image-wire.ts'
import { streamed } from '../stream.ts'
import { echoOf, qualities, usageOf } from '../usage.ts'

export const openaiImages: ImageWire = {
  name: 'openai',
  base: 'v1',
  credentials: {},
  maxN: 10,
  moderation: 'refuses',
  locate: (path) =>
    path === 'v1/images/generations'
      ? { method: 'POST', operation: 'generate', model: null, jobId: null }
      : null,
  read: (fields) => openaiImageQuestion(fields, requiredString(fields, 'model')),
  write: openaiImageReply,
  refuse: openaiImageError,
}

const known = [
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
    unknownFields: unknownFields(fields, known),
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

function openaiImageReply(answer: ImageAnswer): Written {
  const { scenario, question, pictures } = answer
  const form = formOf(answer)
  if (question.previews !== null && !scenario.has('ignores-stream')) return streamed(answer, echoOf(answer))
  const data = pictures.map((picture) => ({
    ...(form === 'url' ? { url: answer.links.file(picture) } : { b64_json: answer.base64(picture.content) }),
    ...(scenario.has('revises') ? { revised_prompt: `In great detail: ${question.prompt}` } : {}),
  }))
  const body = {
    created: Math.floor(Date.now() / 1000),
    ...(scenario.has('extra-fields')
      ? { id: 'img-fake', meta: { served_by: { name: 'fake-provider' } } }
      : {}),
    ...(scenario.has('no-echo') ? {} : echoOf(answer)),
    data,
    ...(scenario.has('no-usage') ? {} : { usage: usageOf(question, pictures) }),
  }
  return { body: JSON.stringify(body) }
}

/** The form of the pictures; GPT image knows no response_format, and says so. */
function formOf({ scenario, question: { fields } }: ImageAnswer): 'url' | 'b64_json' {
  const asked = choiceField(fields, 'response_format', ['url', 'b64_json'])
  if (scenario.has('both-forms')) return asked ?? 'url'
  if (scenario.has('url-only')) {
    if (asked !== 'b64_json') return 'url'
    throw new Refusal(400, "Invalid value: 'b64_json'. Supported values are: 'url'.", {
      param: 'response_format',
    })
  }
  if (!('response_format' in fields)) return 'b64_json'
  throw new Refusal(400, "Unknown parameter: 'response_format'.", {
    code: 'unknown_parameter',
    param: 'response_format',
  })
}

export function openaiImageError(refusal: RefusalType): string {
  if (refusal.code !== 'moderation_blocked') return openaiError(refusal)
  const { error } = JSON.parse(openaiError(refusal)) as { error: object }
  return JSON.stringify({
    error: { ...error, moderation_details: { moderation_stage: 'input', categories: ['violence'] } },
  })
}
