import type { Catalog, EmbeddingModel, ImageModel, Model } from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { named } from '#core/fault/shown.ts'
import { nearest } from '#core/text/nearest.ts'
import type { Key } from '#ports/keys.ts'

export function findEmbeddingModel(asked: string, key: Key, catalog: Catalog): EmbeddingModel {
  const model = findModel(asked, key, catalog)
  if (model.kind === 'embedding') return model
  throw wrongKind(asked, 'makes images, not vectors', 'POST /v1/images/generations')
}

export function findImageModel(asked: string, key: Key, catalog: Catalog): ImageModel {
  const model = findModel(asked, key, catalog)
  if (model.kind === 'image') return model
  throw wrongKind(asked, 'makes vectors, not images', 'POST /v1/embeddings')
}

function wrongKind(asked: string, what: string, path: string): Fault {
  return new Fault('invalid_parameter', `'${asked}' ${what}. Use ${path}, or another model.`, {
    param: 'model',
  })
}

/** The model a key asked for, by id or alias. */
export function findModel(asked: string, key: Key, catalog: Catalog): Model {
  const model = catalog.models.get(asked)
  if (model === undefined) throw unknownModel(asked, key, catalog)
  if (!mayUse(key, model)) {
    const allowed = [...(key.models ?? [])].join(', ')
    throw new Fault(
      'model_not_allowed',
      `Key '${key.project}/${key.name}' may use: ${allowed}. Ask the operator to allow '${asked}' for it.`,
      {
        param: 'model',
      },
    )
  }
  return model
}

/** A key that may use a model may use it by its aliases, and the other way round. */
export function mayUse(key: Key, model: Model): boolean {
  const { models } = key
  if (models === undefined || models.has(model.id)) return true
  return model.aliases.some((alias) => models.has(alias))
}

function unknownModel(asked: string, key: Key, catalog: Catalog): Fault {
  const retired = catalog.retired.get(asked)
  if (retired !== undefined) {
    const { on, note } = retired
    const successor = retired.successor === undefined ? '' : ` Its successor is '${retired.successor}'.`
    const what = note === undefined ? `shut '${asked}' down on ${on}` : `retired '${asked}' on ${on}: ${note}`
    return new Fault('model_retired', `The provider ${what}.${successor}`, { param: 'model' })
  }
  const usable = [...catalog.models].filter(([, model]) => mayUse(key, model)).map(([name]) => name)
  const near = nearest(asked, usable)
  const hint = near === undefined ? '' : ` Did you mean '${near}'?`
  return new Fault(
    'model_not_found',
    `Model ${named(asked)} is not configured.${hint} This key may use: ${someOf(usable)}.`,
    { param: 'model' },
  )
}

/** A message names a few models; the list has all. */
const MAX_NAMED = 5

function someOf(models: readonly string[]): string {
  if (models.length === 0) return 'no model'
  const first = models.slice(0, MAX_NAMED).join(', ')
  const rest = models.length - MAX_NAMED
  return rest > 0 ? `${first} and ${rest} more (GET /v1/models)` : `${first} (GET /v1/models)`
}
