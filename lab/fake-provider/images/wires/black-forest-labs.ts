import { Refusal, requiredString, stringField, unknownFields, type Fields } from '../../wire.ts'
import { givenOf, pictureField } from '../given.ts'
import {
  choiceField,
  edgeFields,
  shaped,
  wholeField,
  json,
  type ImageWire,
  type Links,
  type Written,
} from '../image-wire.ts'
import type { ImageQuestion } from '../image-question.ts'
import type { Job, Phase } from '../jobs.ts'

/** Every model is polled: the submit answers an address, and the address answers a URL when the picture is there. */
export const blackForestLabs: ImageWire = {
  name: 'black-forest-labs',
  base: 'bfl/v1',
  credentials: { 'x-key': '' },
  maxN: 1,
  moderation: 'withholds',
  locate(path, query) {
    const [, model] = /^bfl\/v1\/([^/]+)$/.exec(path) ?? []
    if (model === undefined) return null
    if (model === 'get_result')
      return { method: 'GET', operation: 'poll', model: null, jobId: query.get('id') ?? '' }
    return { method: 'POST', operation: 'submit', model: decodeURIComponent(model), jobId: null }
  },
  read: (fields, { model }) => bflQuestion(fields, model ?? ''),
  jobs: {
    accept: ({ id }, _, links) => {
      return json({ id, polling_url: links.at(`bfl/v1/get_result?id=${id}`), cost: 4, output_mp: 1 })
    },
    progress: bflProgress,
  },
  refuse: ({ message }) => JSON.stringify({ detail: message }),
}

const known = [
  'prompt seed aspect_ratio width height steps guidance image_prompt output_format',
  'image_prompt_strength prompt_upsampling raw safety_tolerance webhook_url webhook_secret',
].flatMap((names) => names.split(' '))

/** `image` for fill models, `input_image` for the others; from the second on with a number. */
const pictureNames = ['image', 'input_image'].flatMap((name) => [
  name,
  ...Array.from({ length: 9 }, (_, position) => `${name}_${position + 2}`),
])

function bflQuestion(fields: Fields, model: string): ImageQuestion {
  const edges = edgeFields(fields)
  if (edges !== null && [edges.width, edges.height].some((edge) => edge < 256 || edge > 1920)) {
    throw new Refusal(
      422,
      `'width' and 'height' must be 256 to 1920, not ${edges.width} and ${edges.height}.`,
    )
  }
  const ratio = stringField(fields, 'aspect_ratio')
  wholeField(fields, 'safety_tolerance', 0, 6)
  return {
    model,
    prompt: requiredString(fields, 'prompt'),
    n: 1,
    size: edges === null ? ratio : `${edges.width}x${edges.height}`,
    ...(edges ?? shaped(ratio ?? '4:3', 786_432)),
    format: choiceField(fields, 'output_format', ['jpeg', 'png']) ?? 'jpeg',
    quality: 90,
    transparent: false,
    previews: null,
    ...givenOf(
      pictureNames.map((name) => pictureField(fields, name, { base64: true })),
      { part: pictureField(fields, 'mask', { base64: true }), polarity: 'white' },
    ),
    unknownFields: unknownFields(fields, [...known, ...pictureNames, 'mask']),
    fields,
  }
}

function bflProgress(job: Job | null, phase: Phase, links: Links): Written {
  const say = (status: string, result: object | null = null) =>
    json({ id: job?.id ?? '', status, result, progress: null })
  if (job === null) return say('Task not found')
  if (phase === 'queued' || phase === 'working') return say('Pending')
  if (phase !== 'done') return say('Error')
  if (job.moderated !== null)
    return say(job.moderated === 'input' ? 'Request Moderated' : 'Content Moderated')
  const [picture] = job.pictures
  const result = picture && { sample: links.file(picture), prompt: job.prompt, seed: 42, duration: 1.5 }
  return say('Ready', result ?? null)
}
