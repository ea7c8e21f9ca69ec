import { Refusal, requiredString, stringField, unknownFields, type Fields } from '../../wire.ts'
import { bounded, pictureList, type Given } from '../given.ts'
import {
  choiceField,
  shaped,
  wholeField,
  json,
  type ImageAnswer,
  type ImageTarget,
  type ImageWire,
  type Written,
} from '../image-wire.ts'
import type { ImageQuestion } from '../image-question.ts'
import { openaiTarget } from './openai.ts'

/** Nearly OpenAI's: no size, but a ratio and a resolution. */
export const xai: ImageWire = {
  name: 'xai',
  base: 'xai/v1',
  credentials: { authorization: 'Bearer ' },
  maxN: 10,
  moderation: 'withholds',
  editBodies: ['json'],
  locate: (path) => (path.startsWith('xai/v1/') ? openaiTarget(path.slice('xai/v1'.length)) : null),
  read: xaiQuestion,
  write: xaiReply,
  refuse: ({ message, type, param, code }) => JSON.stringify({ error: { message, type, param, code } }),
}

const known = [
  'model prompt n response_format aspect_ratio resolution quality output_format sync_mode user',
].flatMap((names) => names.split(' '))

/** One as `image`, several as `images`; there is no mask. */
function givenIn(fields: Fields): Given {
  const single =
    fields['image'] == null ? [] : pictureList({ image: [fields['image']] }, 'image', { key: 'url' })
  const images = bounded([
    ...single.map((part) => ({ ...part, name: 'image' })),
    ...pictureList(fields, 'images', { key: 'url' }),
  ])
  if (images.length === 0) throw new Refusal(400, "'image' or 'images' is required.", { param: 'image' })
  if ('mask' in fields) throw new Refusal(400, "'mask' is not supported.", { param: 'mask' })
  return { parts: images, images, mask: null, polarity: 'alpha' }
}

function xaiQuestion(fields: Fields, { operation }: ImageTarget): ImageQuestion {
  const ratio = stringField(fields, 'aspect_ratio')
  const resolution = choiceField(fields, 'resolution', ['1k', '2k'])
  choiceField(fields, 'response_format', ['url', 'b64_json'])
  choiceField(fields, 'quality', ['low', 'medium', 'high'])
  return {
    model: requiredString(fields, 'model'),
    prompt: requiredString(fields, 'prompt'),
    n: wholeField(fields, 'n', 1, Number.MAX_SAFE_INTEGER) ?? 1,
    size: ratio,
    ...shaped(ratio ?? '1:1', (resolution === '2k' ? 4 : 1) * 1024 ** 2),
    format: choiceField(fields, 'output_format', ['jpeg', 'png', 'webp']) ?? 'jpeg',
    quality: 90,
    transparent: false,
    previews: null,
    ...(operation === 'edit' ? { given: givenIn(fields) } : {}),
    unknownFields: unknownFields(fields, operation === 'edit' ? [...known, 'image', 'images'] : known),
    fields,
  }
}

/** Ticks of a ten-thousandth of a millionth of a dollar. */
const ticksEach = 200_000_000

function xaiReply({ scenario, question, pictures, moderated, base64, links }: ImageAnswer): Written {
  const asBase64 = question.fields['response_format'] === 'b64_json' && !scenario.has('url-only')
  const revised = scenario.has('revises') ? { revised_prompt: `In great detail: ${question.prompt}` } : {}
  const data = pictures.map((picture) => ({
    ...(asBase64 ? { b64_json: base64(picture.content) } : { url: links.file(picture) }),
    ...revised,
    respect_moderation: true,
  }))
  const usage = scenario.has('no-usage') ? {} : { usage: { cost_in_usd_ticks: ticksEach * pictures.length } }
  if (moderated !== null) return json({ data: [{ url: '', respect_moderation: false }] })
  return json({ data, ...usage })
}
