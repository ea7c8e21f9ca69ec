import { listModels, type Catalog, type Deployment, type EmbeddingModel } from '#core/catalog/catalog.ts'
import { targetOf } from './knowledge.ts'

/** Where embedding deployments lead, in the catalog of now and in older ones that requests still hold. */
export class Targets {
  readonly #models = new WeakMap<object, EmbeddingModel>()
  #current: ReadonlyMap<string, Deployment> = new Map()

  constructor(catalog: Catalog) {
    this.replace(catalog)
  }

  replace(catalog: Catalog): void {
    const current = new Map<string, Deployment>()
    for (const model of listModels(catalog)) {
      if (model.kind !== 'embedding') continue
      for (const deployment of model.deployments) {
        current.set(deployment.id, deployment)
        this.#models.set(deployment, model)
      }
    }
    this.#current = current
  }

  /** Whether a guarded deployment of an older catalog was removed since, or leads elsewhere now. */
  isWithdrawn(deployment: { readonly id: string }): boolean {
    const current = this.#current.get(deployment.id)
    if (current === deployment) return false
    const model = this.#models.get(deployment)
    // Images have no space.
    if (model === undefined || !model.isGuarded) return false
    if (current === undefined) return true
    return this.#targetOf(current) !== this.#targetOf(deployment as Deployment)
  }

  #targetOf(deployment: Deployment): string {
    return targetOf(this.#models.get(deployment) as EmbeddingModel, deployment)
  }
}
