import { openaiError } from '../../openai-wire.ts'
import { OTHER_MODEL } from '../../answer.ts'
import type { Form } from '../../form.ts'
import { Refusal, requiredString, type Fields, type Refusal as RefusalType } from '../../wire.ts'
import {
  choiceField,
  type ImageAnswer,
  type ImageTarget,
  type ImageWire,
  type Written,
} from '../image-wire.ts'
import type { ImageQuestion } from '../image-question.ts'
import { streamed } from '../stream.ts'
import { echoOf, usageOf } from '../usage.ts'
import { openaiEditQuestion } from './openai-edits.ts'
import { openaiImageQuestion } from './openai-question.ts'

export const openaiImages: ImageWire = {
  name: 'openai',
  base: 'v1',
  credentials: {},
  maxN: 10,
  moderation: 'refuses',
  editBodies: ['multipart', 'json'],
  locate: (path) => openaiTarget(path.startsWith('v1/') ? path.slice('v1'.length) : ''),
  read: (fields, target, _, form) => openaiRead(fields, target, form),
  write: openaiImageReply,
  refuse: openaiImageError,
}

/** What stands at the end of a path: a new picture or an edit; null for anything else. */
export function openaiTarget(end: string): ImageTarget | null {
  if (end !== '/images/generations' && end !== '/images/edits') return null
  const operation = end === '/images/edits' ? 'edit' : 'generate'
  return { method: 'POST', operation, model: null, jobId: null }
}

/** A deployment in the path is the model, whatever the body says. */
function openaiRead(
  fields: Fields,
  { operation, model: deployment }: ImageTarget,
  form: Form | null,
): ImageQuestion {
  const model = deployment ?? requiredString(fields, 'model')
  return operation === 'edit' ? openaiEditQuestion(fields, model, form) : openaiImageQuestion(fields, model)
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
    ...(scenario.has('other-model') ? { model: OTHER_MODEL } : {}),
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
