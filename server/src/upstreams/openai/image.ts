/** The OpenAI wire for pictures. What differs between the many servers that speak it is capability data. */
import type { ImageCall } from '#ports/image-upstream.ts'
import type { Target } from './embedding.ts'

export function imagePath(target: Target, _call: ImageCall): string {
  return `${target.basePath}/images/generations${target.query}`
}

export function imageBody(call: ImageCall): string {
  const { capabilities, upstreamModel } = call.deployment
  const body: Record<string, unknown> = { ...call.extraFields, model: upstreamModel, prompt: call.prompt }
  const say = (field: string, value: string | number | undefined): void => {
    if (value !== undefined) body[field] = value
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
  say('output_format', call.format)
  say('output_compression', call.compression)
  say('user', call.user)
  say('safety_identifier', call.safetyIdentifier)
  // What comes unasked is not asked for: OpenAI's own models refuse the field.
  if (capabilities.forms[0] !== 'b64_json' && capabilities.forms.includes('b64_json'))
    say('response_format', 'b64_json')
  if (call.partialImages !== undefined) {
    body['stream'] = true
    say('partial_images', call.partialImages)
  }
  return JSON.stringify(body)
}
