import { openaiError } from '../../openai-wire.ts'
import { requiredString, unknownFields, type Fields } from '../../wire.ts'
import { givenOf, pictureField, pictureList } from '../given.ts'
import {
  choiceField,
  edgeFields,
  wholeField,
  json,
  type ImageAnswer,
  type ImageWire,
  type Written,
} from '../image-wire.ts'
import type { ImageQuestion } from '../image-question.ts'

/** Nearly OpenAI's: width and height in the place of size, and its own word for base64. */
export const together: ImageWire = {
  name: 'together',
  base: 'together/v1',
  credentials: { authorization: 'Bearer ' },
  maxN: 4,
  moderation: 'refuses',
  locate: (path) =>
    path === 'together/v1/images/generations'
      ? { method: 'POST', operation: 'generate', model: null, jobId: null }
      : null,
  read: togetherQuestion,
  write: togetherReply,
  refuse: openaiError,
}

const known = [
  'model prompt n width height steps seed guidance guidance_scale negative_prompt output_format',
  'response_format image_url reference_images image_loras disable_safety_checker',
].flatMap((names) => names.split(' '))

function togetherQuestion(fields: Fields): ImageQuestion {
  const edges = edgeFields(fields)
  choiceField(fields, 'response_format', ['url', 'base64'])
  return {
    model: requiredString(fields, 'model'),
    prompt: requiredString(fields, 'prompt'),
    n: wholeField(fields, 'n', 1, Number.MAX_SAFE_INTEGER) ?? 1,
    size: edges === null ? null : `${edges.width}x${edges.height}`,
    ...(edges ?? { width: 1024, height: 1024 }),
    format: choiceField(fields, 'output_format', ['jpeg', 'png']) ?? 'jpeg',
    quality: 90,
    transparent: false,
    previews: null,
    ...givenOf([pictureField(fields, 'image_url'), ...pictureList(fields, 'reference_images')]),
    unknownFields: unknownFields(fields, known),
    fields,
  }
}

function togetherReply({ question, pictures, base64, links }: ImageAnswer): Written {
  const asBase64 = question.fields['response_format'] === 'base64'
  const data = pictures.map((picture, index) => ({
    index,
    type: asBase64 ? 'b64_json' : 'url',
    ...(asBase64 ? { b64_json: base64(picture.content) } : { url: links.file(picture) }),
  }))
  return json({ id: 'fake', object: 'list', model: question.model, data })
}
