/** An image request as its job keeps it. */
import { canonicalText, imageRequestOf } from '#core/image/canonical-request.ts'
import type { ImageRequest } from '#core/image/request.ts'
import type { Key } from '#ports/keys.ts'
import { keyOfStored, storedKey, type StoredKey } from '../access/stored-key.ts'

export interface StoredImageRequest {
  readonly request: ImageRequest
  readonly key: Key
  readonly unsupported: 'refuse' | 'drop' | undefined
}

interface StoredFields {
  readonly request: string
  readonly unsupported?: 'refuse' | 'drop' | undefined
  readonly key: StoredKey
}

export function storedText({ request, key, unsupported }: StoredImageRequest): string {
  const fields: StoredFields = { request: canonicalText(request), unsupported, key: storedKey(key) }
  return JSON.stringify(fields)
}

export function storedImageRequestOf(text: string): StoredImageRequest {
  const { request, unsupported, key } = JSON.parse(text) as StoredFields
  return { request: imageRequestOf(request), unsupported, key: keyOfStored(key) }
}
