/** The writes that connect an upstream: a check, then the upstream, its models and their prices. */
import { useRef } from 'react'
import type { Schema } from '../../api/client.ts'
import { useWrite } from '../../api/write.ts'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { questionOf, type Fields } from './form.ts'
import type { OwnKind } from './found-models.tsx'
import { priceBody, type GivenPrice } from './given-price.tsx'

const TOUCHED = {
  touches: ['/api/v1/models', '/api/v1/upstreams', '/api/v1/deployments', '/api/v1/session'],
} as const

interface Connect {
  /** Nothing is kept: neither here nor by the node. */
  readonly check: (fields: Fields) => Promise<Schema<'Checked'>>
  readonly add: (
    fields: Fields,
    ticked: ReadonlySet<string>,
    own: ReadonlyMap<string, OwnKind>,
    prices: ReadonlyMap<string, GivenPrice>,
  ) => Promise<readonly Schema<'ModelRow'>[]>
  /** Other fields are another upstream. */
  readonly forget: () => void
}

export function useConnect(): Connect {
  const check = useWrite('post', '/api/v1/upstreams/check')
  const createUpstream = useWrite('post', '/api/v1/upstreams', TOUCHED)
  const addModels = useWrite('post', '/api/v1/models', TOUCHED)
  const setPrice = useWrite('put', '/api/v1/prices/{deployment}', TOUCHED)
  /** What was made before something failed: asking again must not make it a second time. */
  const made = useRef<{ upstream?: string; models?: readonly Schema<'ModelRow'>[] }>({})
  return {
    check: (fields) => check.send({ body: questionOf(fields) }),
    forget: () => {
      made.current = {}
    },
    add: async (fields, ticked, own, prices) => {
      const upstream = made.current.upstream ?? (await createUpstream.send({ body: questionOf(fields) })).name
      made.current.upstream = upstream
      const kinds = [...own].filter(([id]) => ticked.has(id)).map(([id, one]) => [id, kindBody(one)] as const)
      const models =
        made.current.models ??
        (await addModels.send({
          body: {
            upstream,
            ids: [...ticked],
            ...(kinds.length > 0 && { own: Object.fromEntries(kinds) }),
          },
        }))
      made.current.models = models
      const unset: string[] = []
      for (const [id, price] of prices) {
        if (!ticked.has(id)) continue
        const model = models.find((one) => one.id === id)
        const deployment = model?.deployments.find((one) => one.upstream === upstream)
        if (model === undefined || deployment === undefined) unset.push(id)
        else
          await setPrice.send({
            params: { path: { deployment: deployment.id } },
            body: priceBody(model.kind, price),
          })
      }
      made.current = {}
      if (unset.length > 0)
        toast(words.upstreams.priceNotSet(unset.join(', ')), {
          text: words.upstreams.priceNotSetText(upstream),
          mark: 'bad',
        })
      return models
    },
  }
}

function kindBody({ kind, width }: OwnKind) {
  return kind === 'image' ? ({ kind } as const) : ({ kind, width } as const)
}
