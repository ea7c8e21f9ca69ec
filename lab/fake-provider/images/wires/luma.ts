import { isFields, Refusal, requiredString, stringField, unknownFields, type Fields } from '../../wire.ts'
import type { Part } from '../../form.ts'
import { givenOf, pictureField, pictureList } from '../given.ts'
import { choiceField, shaped, json, type ImageWire, type Links, type Written } from '../image-wire.ts'
import type { ImageQuestion } from '../image-question.ts'
import type { Job, Phase } from '../jobs.ts'

export const luma: ImageWire = {
  name: 'luma',
  base: 'luma',
  credentials: { authorization: 'Bearer ' },
  maxN: 1,
  moderation: 'withholds',
  locate(path) {
    const [, id] = /^luma\/dream-machine\/v1\/generations\/([^/]+)$/.exec(path) ?? []
    if (id === undefined) return null
    return id === 'image'
      ? { method: 'POST', operation: 'submit', model: null, jobId: null }
      : { method: 'GET', operation: 'poll', model: null, jobId: id }
  },
  read: lumaQuestion,
  jobs: {
    accept: (job, phase, links) => generation(job, phase, links, 201),
    progress: (job, phase, links) =>
      job === null
        ? { status: 404, body: lumaError('Generation not found') }
        : generation(job, phase, links, 200),
  },
  refuse: ({ message }) => lumaError(message),
}

const ratios = ['1:1', '3:4', '4:3', '9:16', '16:9', '9:21', '21:9'] as const

const known = ['prompt model aspect_ratio format callback_url image style character modify_image'].flatMap(
  (names) => names.split(' '),
)

/** Addresses alone: references of three kinds, or the one picture that is modified. */
function addressesIn(fields: Fields): Part[] {
  const { character = {}, modify_image: modified } = fields
  if (!isFields(character)) throw new Refusal(400, "'character' must be an object.")
  const identities = Object.entries(character).flatMap(([id, identity]) =>
    pictureList(isFields(identity) ? identity : {}, 'images', { within: `character/${id}/` }),
  )
  const parts = [
    ...pictureList(fields, 'image', { key: 'url' }),
    ...pictureList(fields, 'style', { key: 'url' }),
    ...identities,
    isFields(modified) ? pictureField(modified, 'url', { within: 'modify_image/' }) : null,
  ].filter((part) => part !== null)
  const inline = parts.find(({ url }) => url === undefined)
  if (inline !== undefined) throw new Refusal(400, `'${inline.name}' must be an address.`)
  return parts
}

function lumaQuestion(fields: Fields): ImageQuestion {
  const ratio = choiceField(fields, 'aspect_ratio', ratios)
  const format = choiceField(fields, 'format', ['jpg', 'png'])
  stringField(fields, 'callback_url')
  return {
    model: requiredString(fields, 'model'),
    prompt: requiredString(fields, 'prompt'),
    n: 1,
    size: ratio,
    ...shaped(ratio ?? '16:9', 1024 ** 2),
    format: format === 'png' ? 'png' : 'jpeg',
    quality: 90,
    transparent: false,
    previews: null,
    ...givenOf(addressesIn(fields)),
    unknownFields: unknownFields(fields, known),
    fields,
  }
}

function generation(
  { id, model, pictures, moderated }: Job,
  phase: Phase,
  links: Links,
  status: number,
): Written {
  const isFailed = phase === 'failed' || phase === 'canceled' || (phase === 'done' && moderated !== null)
  const states = {
    queued: 'queued',
    working: 'dreaming',
    done: 'completed',
    failed: 'failed',
    canceled: 'failed',
  }
  const reason =
    moderated === null ? 'The generation failed.' : '400: Prompt not allowed because of content moderation.'
  const [picture] = pictures
  return json(
    {
      id,
      model,
      generation_type: 'image',
      state: isFailed ? 'failed' : states[phase],
      failure_reason: isFailed ? reason : null,
      assets: phase === 'done' && picture !== undefined ? { image: links.file(picture) } : null,
    },
    status,
  )
}

function lumaError(message: string): string {
  return JSON.stringify({ detail: [{ type: 'value_error', loc: ['body'], msg: message, input: '' }] })
}
