import { tokensOf } from '../../vectors.ts'
import { contentText, googleError } from '../../wires/google.ts'
import { isFields, Refusal, requiredString, stringField, unknownFields, type Fields } from '../../wire.ts'
import type { Part } from '../../form.ts'
import { givenOf, inlinePart } from '../given.ts'
import {
  choiceField,
  wholeField,
  json,
  type ImageAnswer,
  type ImageTarget,
  type ImageWire,
  type Written,
} from '../image-wire.ts'
import type { ImageQuestion } from '../image-question.ts'

/** Gemini: one picture in a part of the answer. */
export const googleImages: ImageWire = {
  name: 'google',
  base: 'google/v1beta',
  credentials: { 'x-goog-api-key': '' },
  maxN: 1,
  moderation: 'withholds',
  locate: (path) => generateTarget(/^google\/v1beta\/models\/([^/:]+):generateContent$/.exec(path)),
  read: geminiQuestion,
  write: geminiReply,
  refuse: googleError,
}

export const vertexImages: ImageWire = {
  ...googleImages,
  name: 'vertex',
  base: 'vertex/v1/publishers/google',
  credentials: { authorization: 'Bearer ', 'x-goog-api-key': '' },
  locate: (path) => generateTarget(/^vertex\/.+\/models\/([^/:]+):generateContent$/.exec(path)),
}

function generateTarget(parts: RegExpExecArray | null): ImageTarget | null {
  if (parts === null) return null
  return { method: 'POST', operation: 'generate', model: decodeURIComponent(parts[1] ?? ''), jobId: null }
}

const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const

/** What 1K is in each shape. */
const sizes: Record<(typeof ratios)[number], readonly [width: number, height: number]> = {
  '1:1': [1024, 1024],
  '2:3': [832, 1248],
  '3:2': [1248, 832],
  '3:4': [864, 1184],
  '4:3': [1184, 864],
  '4:5': [896, 1152],
  '5:4': [1152, 896],
  '9:16': [768, 1344],
  '16:9': [1344, 768],
  '21:9': [1536, 672],
}

const known = ['contents', 'generationConfig', 'safetySettings', 'systemInstruction', 'labels']
const knownConfig = [
  'responseModalities',
  'imageConfig',
  'seed',
  'candidateCount',
  'temperature',
  'topP',
  'topK',
]

function geminiQuestion(fields: Fields, { model }: ImageTarget): ImageQuestion {
  const { contents } = fields
  if (!Array.isArray(contents) || contents.length !== 1)
    throw new Refusal(400, "'contents' must hold one content.")
  const config = objectField(fields, 'generationConfig')
  const modalities = config['responseModalities']
  if (!Array.isArray(modalities) || !modalities.includes('IMAGE')) {
    throw new Refusal(400, "'generationConfig.responseModalities' must name IMAGE.")
  }
  const image = objectField(config, 'imageConfig')
  const ratio = choiceField(image, 'aspectRatio', ratios)
  const scale = choiceField(image, 'imageSize', ['1K', '2K', '4K'])
  const factor = Number(scale?.[0] ?? 1)
  const [width, height] = sizes[ratio ?? '1:1']
  const { prompt, pictures } = contentOf(contents[0])
  return {
    model: model ?? '',
    prompt,
    n: wholeField(config, 'candidateCount', 1, 8) ?? 1,
    size: ratio === null && scale === null ? null : `${ratio ?? '1:1'} ${scale ?? '1K'}`,
    // The drawing board ends at 4096.
    width: Math.min(4096, width * factor),
    height: Math.min(4096, height * factor),
    ...outputOf(image),
    transparent: false,
    previews: null,
    ...givenOf(pictures),
    unknownFields: [
      ...unknownFields(fields, known),
      ...unknownFields(config, knownConfig),
      ...unknownFields(image, ['aspectRatio', 'imageSize', 'imageOutputOptions']),
    ],
    fields,
  }
}

/** Texts and pictures, in any order. */
function contentOf(content: unknown): { prompt: string; pictures: Part[] } {
  const parts = isFields(content) && Array.isArray(content['parts']) ? (content['parts'] as unknown[]) : []
  const pictures = parts.flatMap((part, position) => {
    const inlineData = isFields(part) ? part['inlineData'] : null
    if (!isFields(inlineData)) return []
    const name = `contents/0/parts/${position}`
    return [inlinePart(name, stringField(inlineData, 'mimeType'), requiredString(inlineData, 'data'))]
  })
  const texts = parts.filter((part) => !isFields(part) || !('inlineData' in part))
  return { prompt: contentText(isFields(content) ? { ...content, parts: texts } : content), pictures }
}

/** Vertex lets the caller choose the format. */
function outputOf(image: Fields): Pick<ImageQuestion, 'format' | 'quality'> {
  const output = objectField(image, 'imageOutputOptions')
  const mimeType = choiceField(output, 'mimeType', ['image/png', 'image/jpeg'])
  return {
    format: mimeType === 'image/jpeg' ? 'jpeg' : 'png',
    quality: wholeField(output, 'compressionQuality', 0, 100) ?? 75,
  }
}

function objectField(fields: Fields, name: string): Fields {
  const value = fields[name] ?? {}
  if (!isFields(value)) throw new Refusal(400, `'${name}' must be an object.`)
  return value
}

/** Output tokens of one picture, whatever its size. */
const tokensEach = 1290

/** Input tokens of one picture, whatever its size. */
const tokensEachGiven = 258

function geminiReply({ scenario, question, pictures, moderated, base64 }: ImageAnswer): Written {
  const parts = pictures.map((picture) => ({
    inlineData: { mimeType: `image/${picture.format}`, data: base64(picture.content) },
  }))
  const candidate =
    moderated === null
      ? { content: { role: 'model', parts }, finishReason: parts.length === 0 ? 'NO_IMAGE' : 'STOP' }
      : { content: {}, finishReason: 'IMAGE_SAFETY', finishMessage: 'Unable to show the generated image.' }
  const givenTokens = tokensEachGiven * (question.given?.images.length ?? 0)
  const promptTokenCount = tokensOf(question.prompt) + givenTokens
  const candidatesTokenCount = tokensEach * pictures.length
  const totalTokenCount = promptTokenCount + candidatesTokenCount
  const usageMetadata = { promptTokenCount, candidatesTokenCount, totalTokenCount }
  return json({
    candidates: [{ ...candidate, index: 0 }],
    ...(scenario.has('no-usage') ? {} : { usageMetadata }),
    modelVersion: question.model,
    responseId: 'fake',
  })
}
