import { listModels, type Catalog, type Model } from './catalog.ts'
import type { ModelEnd } from './model-end.ts'

export interface AnnouncedEnd extends ModelEnd {
  readonly model: string
  readonly deployment: string
  readonly upstream: string
}

/** Deployments whose provider announced when it shuts the model down. */
export function announcedEnds(catalog: Catalog): AnnouncedEnd[] {
  return listModels(catalog).flatMap((model) =>
    model.deployments.flatMap(({ id, upstream, end }: Model['deployments'][number]) =>
      end === undefined ? [] : [{ model: model.id, deployment: id, upstream: upstream.name, ...end }],
    ),
  )
}

/** The same by model and upstream, the soonest first. Of several deployments of a model on one upstream it is the first that ends. */
export function endingModels(catalog: Catalog): AnnouncedEnd[] {
  const soonest = announcedEnds(catalog).toSorted((a, b) => a.atMs - b.atMs)
  return [...Map.groupBy(soonest, ({ upstream, model }) => JSON.stringify([upstream, model])).values()].map(
    (own) => own[0] as AnnouncedEnd,
  )
}
