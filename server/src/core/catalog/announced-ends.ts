import { listModels, type Catalog, type Model } from './catalog.ts'
import type { ModelEnd } from './model-end.ts'

export interface AnnouncedEnd extends ModelEnd {
  readonly model: string
  readonly deployment: string
}

/** Deployments whose provider announced when it shuts the model down. */
export function announcedEnds(catalog: Catalog): AnnouncedEnd[] {
  return listModels(catalog).flatMap((model) =>
    model.deployments.flatMap(({ id, end }: Model['deployments'][number]) =>
      end === undefined ? [] : [{ model: model.id, deployment: id, ...end }],
    ),
  )
}
