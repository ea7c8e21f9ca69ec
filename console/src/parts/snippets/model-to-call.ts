/** The models that a first call can name: the install's own before the demo's. */
import { useQuery } from '@tanstack/react-query'
import { modelQueries } from '../../api/queries/models.ts'
import { listPrice } from '../connect-upstream/price-words.ts'

export interface ModelToCall {
  readonly id: string
  readonly kind: 'embedding' | 'image'
  /** False: the demo's. */
  readonly isOwn: boolean
  /** Undefined: no price is known. */
  readonly price: string | undefined
  /** Ids of its deployments. */
  readonly deployments: readonly string[]
}

/** Models with a price come first, because a key with a hard budget can call them; then embeddings before images. */
export function useModelsToCall(allowed: readonly string[] | null = null): readonly ModelToCall[] {
  const { data: models } = useQuery(modelQueries.all(undefined))
  return (models?.data ?? [])
    .filter(({ id }) => allowed === null || allowed.includes(id))
    .map(({ id, kind, managed_by, price, deployments }) => ({
      id,
      kind,
      isOwn: managed_by !== 'built-in',
      price: listPrice(price),
      deployments: deployments.map((one) => one.id),
    }))
    .toSorted((a, b) => rankOf(b) - rankOf(a))
}

export function useModelToCall(allowed: readonly string[] | null = null): ModelToCall {
  const [best] = useModelsToCall(allowed)
  return best ?? { ...DEMO, id: allowed?.[0] ?? DEMO.id }
}

export const DEMO: ModelToCall = {
  id: 'demo-embed',
  kind: 'embedding',
  isOwn: false,
  price: undefined,
  deployments: [],
}

function rankOf({ isOwn, price, kind }: ModelToCall): number {
  return (isOwn ? 4 : 0) + (price !== undefined ? 2 : 0) + (kind === 'embedding' ? 1 : 0)
}
