import { isFields, Refusal, requiredString, stringField, unknownFields, type Fields } from '../../wire.ts'
import type { Format } from '../encode.ts'
import { givenOf, pictureField } from '../given.ts'
import {
  choiceField,
  edgeFields,
  shaped,
  sizeOf,
  wholeField,
  json,
  type ImageTarget,
  type ImageWire,
  type Links,
  type Written,
} from '../image-wire.ts'
import type { ImageQuestion } from '../image-question.ts'
import type { Job, Phase } from '../jobs.ts'

/** Predictions. `Prefer: wait` is taken and not waited for, as when the model takes longer than the wait. */
export const replicate: ImageWire = {
  name: 'replicate',
  base: 'replicate/v1',
  credentials: { authorization: 'Bearer ' },
  maxN: 4,
  moderation: 'withholds',
  locate: replicateTarget,
  read: replicateQuestion,
  jobs: {
    accept: (job, phase, links) => prediction(job, phase, links, 201),
    progress: (job, phase, links) =>
      job === null
        ? json({ detail: 'The requested resource could not be found.' }, 404)
        : prediction(job, phase, links, 200),
  },
  refuse: ({ message, status }) => JSON.stringify({ title: 'Request failed', detail: message, status }),
}

function replicateTarget(path: string): ImageTarget | null {
  const submit = { method: 'POST', operation: 'submit', jobId: null } as const
  const [, model] = /^replicate\/v1\/models\/([^/]+\/[^/]+)\/predictions$/.exec(path) ?? []
  if (model !== undefined) return { ...submit, model: decodeURIComponent(model) }
  if (path === 'replicate/v1/predictions') return { ...submit, model: null }
  const [, jobId, cancel] = /^replicate\/v1\/predictions\/([^/]+)(\/cancel)?$/.exec(path) ?? []
  if (jobId === undefined) return null
  return cancel === undefined
    ? { method: 'GET', operation: 'poll', model: null, jobId }
    : { method: 'POST', operation: 'cancel', model: null, jobId }
}

const known = [
  'prompt aspect_ratio size seed num_outputs width height output_format output_quality guidance_scale',
  'num_inference_steps negative_prompt safety_tolerance disable_safety_checker',
].flatMap((names) => names.split(' '))

/** Flux 2 takes up to eight; the other models have one name. */
const pictureNames = [
  'image',
  'input_image',
  ...Array.from({ length: 7 }, (_, position) => `input_image_${position + 2}`),
]

const formats: Record<'png' | 'jpg' | 'webp', Format> = { png: 'png', jpg: 'jpeg', webp: 'webp' }

function replicateQuestion(fields: Fields, { model }: ImageTarget): ImageQuestion {
  const { input } = fields
  if (!isFields(input)) throw new Refusal(422, "'input' must be an object.")
  const size = stringField(input, 'size')
  const ratio = stringField(input, 'aspect_ratio')
  const edges = size === null ? edgeFields(input) : sizeOf(size)
  return {
    // Models that are not official are named by their version alone.
    model: model ?? requiredString(fields, 'version'),
    prompt: requiredString(input, 'prompt'),
    n: wholeField(input, 'num_outputs', 1, Number.MAX_SAFE_INTEGER) ?? 1,
    size: edges === null ? ratio : `${edges.width}x${edges.height}`,
    ...(edges ?? shaped(ratio ?? '1:1', 1024 ** 2)),
    format: formats[choiceField(input, 'output_format', ['png', 'jpg', 'webp']) ?? 'webp'],
    quality: wholeField(input, 'output_quality', 0, 100) ?? 80,
    transparent: false,
    previews: null,
    ...givenOf(
      pictureNames.map((name) => pictureField(input, name, { within: 'input/' })),
      { part: pictureField(input, 'mask', { within: 'input/' }), polarity: 'white' },
    ),
    unknownFields: [
      ...unknownFields(fields, ['input', 'version', 'webhook', 'stream']),
      ...unknownFields(input, [...known, ...pictureNames, 'mask']),
    ],
    fields,
  }
}

const statuses: Record<Phase, string> = {
  queued: 'starting',
  working: 'processing',
  done: 'succeeded',
  failed: 'failed',
  canceled: 'canceled',
}

function prediction(job: Job, phase: Phase, links: Links, httpStatus: number): Written {
  const { id, model, pictures, moderated } = job
  const isRefused = phase === 'done' && moderated !== null
  const urls = pictures.map((picture) => links.file(picture))
  // Models that make one picture only answer a text in the place of a list.
  const output = /pro|ultra|kontext/.test(model) && urls.length === 1 ? urls[0] : urls
  const error = isRefused
    ? 'NSFW content detected. Try running it again, or try a different prompt.'
    : 'The model failed.'
  const at = `replicate/v1/predictions/${id}`
  return json(
    {
      id,
      model,
      status: isRefused ? 'failed' : statuses[phase],
      output: phase === 'done' && !isRefused ? output : null,
      error: isRefused || phase === 'failed' ? error : null,
      urls: { get: links.at(at), cancel: links.at(`${at}/cancel`) },
    },
    httpStatus,
  )
}
