import { isFields, Refusal, requiredString, unknownFields, type Fields } from '../../wire.ts'
import { givenOf, pictureField, pictureList } from '../given.ts'
import {
  checkedSize,
  choiceField,
  wholeField,
  json,
  type ImageAnswer,
  type ImageTarget,
  type ImageWire,
  type Links,
  type Written,
} from '../image-wire.ts'
import type { ImageQuestion } from '../image-question.ts'
import type { Job, Phase } from '../jobs.ts'
import type { PictureNote } from '../pictures.ts'

/** `fal.run`: the answer comes on the same connection, with the addresses of the pictures. */
export const fal: ImageWire = {
  name: 'fal',
  base: 'fal',
  credentials: { authorization: 'Key ' },
  maxN: 4,
  moderation: 'marks',
  locate(path) {
    const [, model] = /^fal\/(.+)$/.exec(path) ?? []
    return model === undefined ? null : { method: 'POST', operation: 'generate', model, jobId: null }
  },
  read: (fields, { model }) => falQuestion(fields, model ?? ''),
  write: falReply,
  refuse: falError,
}

/** `queue.fal.run`: submit, status, result. */
export const falQueue: ImageWire = {
  name: 'fal-queue',
  base: 'fal-queue',
  credentials: fal.credentials,
  maxN: fal.maxN,
  moderation: fal.moderation,
  locate: queueTarget,
  read: (fields, { model }) => falQuestion(fields, model ?? ''),
  jobs: { accept: queued, progress: queueProgress },
  refuse: falError,
}

function queued(job: Job, _: Phase, links: Links): Written {
  const [response_url, status_url, cancel_url] = ['', '/status', '/cancel'].map((end) =>
    links.at(requestPath(job) + end),
  )
  return json({
    status: 'IN_QUEUE',
    request_id: job.id,
    response_url,
    status_url,
    cancel_url,
    queue_position: 0,
  })
}

function queueTarget(path: string): ImageTarget | null {
  const [, id, action] = /^fal-queue\/.+\/requests\/([^/]+)(\/status|\/cancel)?$/.exec(path) ?? []
  if (id !== undefined) {
    const cancels = action === '/cancel'
    // The path tells a status from a result.
    const model = action === '/status' ? 'status' : 'result'
    return { method: cancels ? 'PUT' : 'GET', operation: cancels ? 'cancel' : 'poll', model, jobId: id }
  }
  const [, model] = /^fal-queue\/(.+)$/.exec(path) ?? []
  return model === undefined ? null : { method: 'POST', operation: 'submit', model, jobId: null }
}

/** An app is named by owner and name; what follows is a path within it, and not part of its requests' addresses. */
function requestPath({ id, model }: Job): string {
  return `fal-queue/${model.split('/').slice(0, 2).join('/')}/requests/${id}`
}

function falError({ status, message, param }: Refusal): string {
  const detail = [{ loc: ['body', param ?? 'prompt'], msg: message, type: 'value_error' }]
  return JSON.stringify(status === 422 || status === 400 ? { detail } : { message })
}

const known = [
  'prompt seed image_size num_images output_format sync_mode enable_safety_checker guidance_scale',
  'num_inference_steps safety_tolerance acceleration negative_prompt',
  'image_url image_urls mask_url',
].flatMap((names) => names.split(' '))

const namedSizes: Record<string, readonly [width: number, height: number]> = {
  square: [512, 512],
  square_hd: [1024, 1024],
  portrait_4_3: [768, 1024],
  portrait_16_9: [576, 1024],
  landscape_4_3: [1024, 768],
  landscape_16_9: [1024, 576],
}

function falQuestion(fields: Fields, model: string): ImageQuestion {
  const edges = imageSize(fields['image_size'] ?? 'landscape_4_3')
  return {
    model,
    prompt: requiredString(fields, 'prompt'),
    n: wholeField(fields, 'num_images', 1, Number.MAX_SAFE_INTEGER) ?? 1,
    size: 'image_size' in fields ? `${edges.width}x${edges.height}` : null,
    ...edges,
    format: choiceField(fields, 'output_format', ['jpeg', 'png']) ?? 'jpeg',
    quality: 90,
    transparent: false,
    previews: null,
    ...givenOf([pictureField(fields, 'image_url'), ...pictureList(fields, 'image_urls')], {
      part: pictureField(fields, 'mask_url'),
      polarity: 'white',
    }),
    unknownFields: unknownFields(fields, known),
    fields,
  }
}

function imageSize(size: unknown): { width: number; height: number } {
  if (isFields(size)) return checkedSize(Number(size['width']), Number(size['height']), "'image_size'")
  const named = typeof size === 'string' ? namedSizes[size] : undefined
  if (named === undefined) throw new Refusal(422, 'Unknown image_size.', { param: 'image_size' })
  return { width: named[0], height: named[1] }
}

function falReply({ question, pictures, links, moderated, base64 }: ImageAnswer): Written {
  const inline = question.fields['sync_mode'] === true
  const images = pictures.map((picture) => ({
    ...falImage(picture, links),
    ...(inline ? { url: `data:image/${picture.format};base64,${base64(picture.content)}` } : {}),
  }))
  return json(falResult(images, question.prompt, moderated !== null))
}

function falImage(picture: PictureNote, links: Links): object {
  const { width, height, format, bytes } = picture
  return { url: links.file(picture), width, height, content_type: `image/${format}`, file_size: bytes }
}

function falResult(images: object[], prompt: string, flagged: boolean): object {
  const has_nsfw_concepts = images.map(() => flagged)
  return { images, timings: { inference: 1.5 }, seed: 42, has_nsfw_concepts, prompt }
}

function queueProgress(
  job: Job | null,
  phase: Phase,
  links: Links,
  { model: question }: ImageTarget,
): Written {
  if (job === null) return json({ detail: 'Request not found' }, 404)
  if (phase === 'canceled') return json({ status: 'CANCELLATION_REQUESTED' }, 202)
  const isPending = phase === 'queued' || phase === 'working'
  if (question === 'status') {
    const status = isPending ? (phase === 'queued' ? 'IN_QUEUE' : 'IN_PROGRESS') : 'COMPLETED'
    return json(
      { status, request_id: job.id, response_url: links.at(requestPath(job)) },
      isPending ? 202 : 200,
    )
  }
  if (isPending) return json({ detail: 'Request is still in progress' }, 400)
  if (phase === 'failed') return json({ detail: 'The request failed.' }, 500)
  return json(
    falResult(
      job.pictures.map((picture) => falImage(picture, links)),
      job.prompt,
      job.moderated !== null,
    ),
  )
}
