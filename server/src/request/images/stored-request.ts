/** An image request as its job keeps it. The key's terms of that moment count, though the key may change meanwhile. */
import { canonicalText, imageRequestOf, type ImageRequest } from '#core/image/request.ts'
import type { Key } from '#ports/keys.ts'

export interface StoredImageRequest {
  readonly request: ImageRequest
  readonly key: Key
  readonly unsupported: 'refuse' | 'drop' | undefined
}

export function storedText({ request, key, unsupported }: StoredImageRequest): string {
  const { id, name, project, limits, budgets } = key
  return JSON.stringify({
    request: canonicalText(request),
    unsupported,
    key: {
      id,
      name,
      project,
      limits,
      budgets: budgets.map((budget) => ({ ...budget, limitNanoUsd: String(budget.limitNanoUsd) })),
    },
  })
}

interface StoredFields {
  readonly request: string
  readonly unsupported?: 'refuse' | 'drop'
  readonly key: Omit<Key, 'budgets' | 'models' | 'expiresAtMs'> & {
    readonly budgets: readonly (Omit<Key['budgets'][number], 'limitNanoUsd'> & {
      readonly limitNanoUsd: string
    })[]
  }
}

export function storedImageRequestOf(text: string): StoredImageRequest {
  const { request, unsupported, key } = JSON.parse(text) as StoredFields
  return {
    request: imageRequestOf(request),
    unsupported,
    key: {
      ...key,
      models: undefined,
      expiresAtMs: undefined,
      budgets: key.budgets.map((budget) => ({ ...budget, limitNanoUsd: BigInt(budget.limitNanoUsd) })),
    },
  }
}
