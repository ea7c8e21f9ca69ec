/** The OpenAI wire for images. Differences between the many servers that speak it are capability data. */
import type { ImageCall } from '#ports/image-upstream.ts'
import type { Target } from './embedding.ts'

export function imagePath(target: Target, call: ImageCall): string {
  return `${target.basePath}/images/${imageOperation(call)}${target.query}`
}

export function imageOperation({ edit }: ImageCall): string {
  return edit === undefined ? 'generations' : 'edits'
}

export function imageBody(call: ImageCall): string {
  return JSON.stringify(imageFields(call))
}

/** All fields of a call except its images. */
export function imageFields(call: ImageCall): Record<string, unknown> {
  const { capabilities, upstreamModel } = call.deployment
  const fields: Record<string, unknown> = { ...call.extraFields, model: upstreamModel, prompt: call.prompt }
  const say = (field: string, value: string | number | boolean | undefined): void => {
    if (value !== undefined) fields[field] = value
  }
  if (call.images > 1) say('n', call.images)
  if (call.size !== undefined) {
    const { width, height, aspectRatio, resolution } = call.size
    say('aspect_ratio', aspectRatio)
    say('resolution', resolution)
    if (aspectRatio === undefined && resolution === undefined) say('size', `${width}x${height}`)
  }
  say('quality', call.quality)
  say('background', call.background)
  say('moderation', call.moderation)
  say('complexity', call.complexity)
  say('output_format', call.format)
  say('output_compression', call.compression)
  say('user', call.user)
  say('safety_identifier', call.safetyIdentifier)
  say('input_fidelity', call.edit?.fidelity)
  // A default is not requested: OpenAI's own models refuse the field.
  if (capabilities.forms[0] !== 'b64_json' && capabilities.forms.includes('b64_json'))
    say('response_format', 'b64_json')
  if (call.partialImages !== undefined) {
    say('stream', true)
    say('partial_images', call.partialImages)
  }
  return fields
}
