import type { IncomingHttpHeaders } from 'node:http'
import { Refusal, requiredString, stringField, unknownFields, type Fields } from '../../wire.ts'
import type { Format } from '../encode.ts'
import { givenOf, pictureField } from '../given.ts'
import {
  checkedSize,
  choiceField,
  shaped,
  wholeField,
  json,
  type ImageTarget,
  type ImageWire,
  type Links,
  type Written,
} from '../image-wire.ts'
import type { ImageQuestion } from '../image-question.ts'
import type { Job, Phase } from '../jobs.ts'

/** Most models answer the bytes of the picture themselves; the Kontext models are polled. */
export const fireworksImages: ImageWire = {
  name: 'fireworks',
  base: 'fireworks/inference/v1',
  credentials: { authorization: 'Bearer ' },
  maxN: 1,
  moderation: 'withholds',
  locate: fireworksTarget,
  read: fireworksQuestion,
  write: ({ pictures: [picture], moderated }) => {
    if (moderated !== null) throw new Refusal(400, 'The prompt was refused by the safety checker.')
    return { contentType: `image/${picture?.format ?? 'jpeg'}`, body: picture?.content ?? '' }
  },
  jobs: { accept: ({ id }) => json({ request_id: id }), progress: fireworksProgress },
  refuse: ({ message, code }) =>
    JSON.stringify({ error: { object: 'error', type: 'invalid_request_error', code, message } }),
}

function fireworksTarget(path: string): ImageTarget | null {
  const base = 'fireworks/inference/v1/'
  if (!path.startsWith(base)) return null
  const [, how, model, action] =
    /^(workflows|image_generation)\/(.+?)(\/text_to_image|\/get_result)?$/.exec(path.slice(base.length)) ?? []
  if (model === undefined) return null
  if (action === '/get_result') return { method: 'POST', operation: 'poll', model, jobId: null }
  const isJob = how === 'workflows' && action === undefined
  return { method: 'POST', operation: isJob ? 'submit' : 'generate', model, jobId: null }
}

const known = [
  'prompt aspect_ratio seed samples width height guidance_scale num_inference_steps output_format',
  'webhook_url webhook_secret prompt_upsampling safety_tolerance cfg_scale steps input_image',
].flatMap((names) => names.split(' '))

function fireworksQuestion(
  fields: Fields,
  { model }: ImageTarget,
  headers: IncomingHttpHeaders,
): ImageQuestion {
  const ratio = stringField(fields, 'aspect_ratio')
  const edges = textEdges(fields)
  const format = choiceField(fields, 'output_format', ['jpeg', 'png'])
  return {
    model: model ?? '',
    prompt: requiredString(fields, 'prompt'),
    n: wholeField(fields, 'samples', 1, Number.MAX_SAFE_INTEGER) ?? 1,
    size: edges === null ? ratio : `${edges.width}x${edges.height}`,
    ...(edges ?? shaped(ratio ?? '1:1', 1024 ** 2)),
    format: format ?? acceptedFormat(headers.accept ?? '*/*'),
    quality: 90,
    transparent: false,
    previews: null,
    ...givenOf([pictureField(fields, 'input_image')]),
    unknownFields: unknownFields(fields, known),
    fields,
  }
}

/** Numbers, or texts of digits. */
function textEdges(fields: Fields): { width: number; height: number } | null {
  const { width, height } = fields
  if (width === undefined && height === undefined) return null
  return checkedSize(Number(width), Number(height), "'width' and 'height'")
}

function acceptedFormat(accept: string): Format {
  return accept.includes('image/png') ? 'png' : 'jpeg'
}

function fireworksProgress(job: Job | null, phase: Phase, links: Links): Written {
  const say = (status: string, result: object | null = null) => json({ id: job?.id ?? '', status, result })
  if (job === null) return say('Task not found')
  if (phase === 'queued' || phase === 'working') return say('Pending')
  if (phase !== 'done') return say('Error')
  if (job.moderated !== null)
    return say(job.moderated === 'input' ? 'Request Moderated' : 'Content Moderated')
  const [picture] = job.pictures
  return say('Ready', picture === undefined ? {} : { sample: links.file(picture) })
}
