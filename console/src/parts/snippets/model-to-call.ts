/** The model that a first call names: the install's own before the demo's. */
import { useQuery } from '@tanstack/react-query'
import { modelQueries } from '../../api/queries/models.ts'
import { listPrice } from '../connect-upstream/price-words.ts'

interface ModelToCall {
  readonly id: string
  readonly kind: 'embedding' | 'image'
  /** False: the demo's. */
  readonly isOwn: boolean
}

/** Models with a price come first, because a key with a hard budget can call them; then embeddings before images. */
export function useModelToCall(allowed: readonly string[] | null = null): ModelToCall {
  const { data: models } = useQuery(modelQueries.all(undefined))
  const [best] = (models?.data ?? [])
    .filter(({ id }) => allowed === null || allowed.includes(id))
    .map(({ id, kind, managed_by, price }) => ({
      id,
      kind,
      isOwn: managed_by !== 'built-in',
      isPriced: listPrice(price) !== undefined,
    }))
    .toSorted((a, b) => rankOf(b) - rankOf(a))
  return best ?? { id: allowed?.[0] ?? 'demo-embed', kind: 'embedding', isOwn: false }
}

function rankOf({ isOwn, isPriced, kind }: ModelToCall & { readonly isPriced: boolean }): number {
  return (isOwn ? 4 : 0) + (isPriced ? 2 : 0) + (kind === 'embedding' ? 1 : 0)
}
