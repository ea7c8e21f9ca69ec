import { isFields, Refusal, requiredString, stringField, unknownFields, type Fields } from '../../wire.ts'
import type { Part } from '../../form.ts'
import { givenOf, pictureField, pictureList, type Polarity } from '../given.ts'
import {
  choiceField,
  edgeFields,
  shaped,
  wholeField,
  json,
  type ImageAnswer,
  type ImageTarget,
  type ImageWire,
} from '../image-wire.ts'
import type { ImageQuestion } from '../image-question.ts'

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

/** The parameters of each task, and which colour of its mask is changed. */
const tasks: Record<string, { parameters: string; known: string; polarity: Polarity }> = {
  TEXT_IMAGE: { parameters: 'textToImageParams', known: 'text negativeText style', polarity: 'black' },
  INPAINTING: {
    parameters: 'inPaintingParams',
    known: 'image maskImage maskPrompt text negativeText',
    polarity: 'black',
  },
  // What is outside of the mask is new, so black is what stays.
  OUTPAINTING: {
    parameters: 'outPaintingParams',
    known: 'image maskImage maskPrompt text negativeText outPaintingMode',
    polarity: 'white',
  },
  IMAGE_VARIATION: {
    parameters: 'imageVariationParams',
    known: 'images text negativeText similarityStrength',
    polarity: 'black',
  },
  BACKGROUND_REMOVAL: { parameters: 'backgroundRemovalParams', known: 'image', polarity: 'black' },
}

function amazonQuestion(fields: Fields, { model }: ImageTarget): ImageQuestion {
  const { taskType, imageGenerationConfig: config = {} } = fields
  const task = tasks[String(taskType)]
  const parameters = task === undefined ? undefined : fields[task.parameters]
  if (task === undefined || !isFields(parameters) || !isFields(config)) {
    const known = Object.entries(tasks).map(([name, each]) => `${name} with '${each.parameters}'`)
    throw new Refusal(400, `'taskType' must be ${known.join(', ')}, and 'imageGenerationConfig' an object.`)
  }
  choiceField(config, 'quality', ['standard', 'premium'])
  const edges = edgeFields(config)
  const isNew = taskType === 'TEXT_IMAGE'
  return {
    ...common(fields, model),
    prompt: isNew ? requiredString(parameters, 'text') : (stringField(parameters, 'text') ?? ''),
    n: wholeField(config, 'numberOfImages', 1, Number.MAX_SAFE_INTEGER) ?? 1,
    size: edges === null ? null : `${edges.width}x${edges.height}`,
    ...(edges ?? { width: 1024, height: 1024 }),
    format: 'png',
    ...(isNew ? {} : amazonGiven(parameters, task.parameters, task.polarity)),
    unknownFields: [
      ...unknownFields(fields, ['taskType', task.parameters, 'imageGenerationConfig']),
      ...unknownFields(parameters, task.known.split(' ')),
      ...unknownFields(config, configFields),
    ],
  }
}

/** Base64 without a type; addresses are refused. */
function amazonGiven(parameters: Fields, name: string, polarity: Polarity): Pick<ImageQuestion, 'given'> {
  const forms = { base64: true, within: `${name}/` }
  const images = [pictureField(parameters, 'image', forms), ...pictureList(parameters, 'images', forms)]
  const mask = pictureField(parameters, 'maskImage', forms)
  const found = [...images, mask].filter((part): part is Part => part !== null)
  if (found.length === 0) throw new Refusal(400, `'${name}' must hold a picture.`)
  const address = found.find(({ url }) => url !== undefined)
  if (address !== undefined) throw new Refusal(400, `'${address.name}' must be base64.`)
  return givenOf(images, { part: mask, polarity })
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
