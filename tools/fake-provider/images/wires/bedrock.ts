import type { Fields } from '../../wire.ts'
import { isFields, Refusal, requiredString, stringField, unknownFields } from '../../wire.ts'
import type { ImageAnswer, ImageQuestion, ImageTarget, ImageWire } from '../image-wire.ts'
import { choiceField, edgeFields, shaped, wholeField, json } from '../image-wire.ts'

/** Nova Canvas and Titan with one body, Stability with another; models of other names are for vectors. */
export const bedrockImages: ImageWire = {
  name: 'bedrock',
  base: 'bedrock',
  credentials: { authorization: '' },
  maxN: 5,
  moderation: 'withholds',
  locate(path) {
    const model = decodeURIComponent(/^bedrock\/model\/([^/]+)\/invoke$/.exec(path)?.[1] ?? '')
    if (!/canvas|titan-image|stability/.test(model)) return null
    return { method: 'POST', operation: 'generate', model, jobId: null }
  },
  read: (fields, target) => (isStability(target.model) ? stabilityQuestion : amazonQuestion)(fields, target),
  write: (answer) => json(isStability(answer.question.model) ? stabilityBody(answer) : amazonBody(answer)),
  refuse: ({ message }) => JSON.stringify({ message }),
}

function isStability(model: string | null): boolean {
  return model?.includes('stability') ?? false
}

const configFields = ['numberOfImages', 'width', 'height', 'quality', 'cfgScale', 'seed']

function amazonQuestion(fields: Fields, { model }: ImageTarget): ImageQuestion {
  const { textToImageParams: parameters, imageGenerationConfig: config = {} } = fields
  if (fields['taskType'] !== 'TEXT_IMAGE' || !isFields(parameters) || !isFields(config)) {
    throw new Refusal(
      400,
      "'taskType' must be TEXT_IMAGE, with 'textToImageParams' and 'imageGenerationConfig'.",
    )
  }
  choiceField(config, 'quality', ['standard', 'premium'])
  const edges = edgeFields(config)
  return {
    ...common(fields, model),
    prompt: requiredString(parameters, 'text'),
    n: wholeField(config, 'numberOfImages', 1, Number.MAX_SAFE_INTEGER) ?? 1,
    size: edges === null ? null : `${edges.width}x${edges.height}`,
    ...(edges ?? { width: 1024, height: 1024 }),
    format: 'png',
    unknownFields: [
      ...unknownFields(fields, ['taskType', 'textToImageParams', 'imageGenerationConfig']),
      ...unknownFields(parameters, ['text', 'negativeText', 'style']),
      ...unknownFields(config, configFields),
    ],
  }
}

function stabilityQuestion(fields: Fields, { model }: ImageTarget): ImageQuestion {
  const ratio = stringField(fields, 'aspect_ratio')
  choiceField(fields, 'mode', ['text-to-image'])
  return {
    ...common(fields, model),
    prompt: requiredString(fields, 'prompt'),
    n: 1,
    size: ratio,
    ...shaped(ratio ?? '1:1', 1024 ** 2),
    format: choiceField(fields, 'output_format', ['png', 'jpeg', 'webp']) ?? 'png',
    unknownFields: unknownFields(fields, [
      'prompt',
      'aspect_ratio',
      'mode',
      'output_format',
      'seed',
      'negative_prompt',
    ]),
  }
}

function common(
  fields: Fields,
  model: string | null,
): Pick<ImageQuestion, 'model' | 'quality' | 'transparent' | 'previews' | 'fields'> {
  return { model: model ?? '', quality: 90, transparent: false, previews: null, fields }
}

/** Nova says what was moderated in a status, Titan in an error; both in a 200. */
function amazonBody({ question, pictures, moderated, base64 }: ImageAnswer): object {
  if (moderated === null) return { images: pictures.map(({ content }) => base64(content)) }
  if (question.model.includes('titan')) {
    return { images: [], error: 'This request has been blocked by our content filters.' }
  }
  const details = { 'Moderation Reasons': [moderated === 'input' ? 'Prompt Moderated' : 'Content Moderated'] }
  return { id: 'fake', status: 'Request Moderated', result: null, progress: null, details, preview: null }
}

function stabilityBody({ pictures, moderated, base64 }: ImageAnswer): object {
  if (moderated !== null)
    return {
      seeds: [],
      finish_reasons: [`Filter reason: ${moderated === 'input' ? 'prompt' : 'output image'}`],
      images: [],
    }
  return {
    seeds: [42],
    finish_reasons: pictures.map(() => null),
    images: pictures.map(({ content }) => base64(content)),
  }
}
