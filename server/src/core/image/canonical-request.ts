/** An image request as one text: what idempotency compares, and what its job keeps. */
import { isExactNumber, parseExactly } from '../text/exact-json.ts'
import { isRecord } from '../text/record.ts'
import { keptFields, type ImageRequest } from './request.ts'

/**
 * One text for all requests that ask for the same: keys sorted at every depth, absent fields left out. Idempotency compares
 * its digest, and a job is stored as this text.
 */
export function canonicalText(request: ImageRequest): string {
  return sortedJson(request)
}

/** Reads back what `canonicalText` wrote. */
export function imageRequestOf(text: string): ImageRequest {
  const stored = JSON.parse(text) as ImageRequest
  const { extraFields } = parseExactly(text) as ImageRequest
  return {
    model: stored.model,
    prompt: stored.prompt,
    images: stored.images,
    size: stored.size,
    quality: stored.quality,
    background: stored.background,
    moderation: stored.moderation,
    format: stored.format,
    compression: stored.compression,
    form: stored.form,
    stream: stored.stream,
    partialImages: stored.partialImages,
    user: stored.user,
    tags: stored.tags,
    safetyIdentifier: stored.safetyIdentifier,
    ...(stored.complexity && { complexity: stored.complexity }),
    ...(stored.frameCount && { frameCount: stored.frameCount }),
    ...(stored.provenance && { provenance: stored.provenance }),
    extraFields: keptFields(Object.entries(extraFields)),
    edit: stored.edit,
  }
}

function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (!isRecord(value) || isExactNumber(value)) return JSON.stringify(value)
  const fields = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${sortedJson(value[name])}`)
  return `{${fields.join(',')}}`
}
