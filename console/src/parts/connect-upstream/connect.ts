/** The writes that connect an upstream: a check, then the upstream, its models and their prices. */
import { useRef } from 'react'
import type { Schema } from '../../api/client.ts'
import { useWrite } from '../../api/write.ts'
import { newUpstreamOf, questionOf, type Fields } from './form.ts'
import type { OwnKind } from './found-models.tsx'
import type { PriceForm } from './given-price.tsx'

const TOUCHED = {
  touches: ['/api/v1/models', '/api/v1/upstreams', '/api/v1/deployments', '/api/v1/session'],
} as const

interface Connect {
  /** Nothing is kept: neither here nor by the node. */
  readonly check: (fields: Fields) => Promise<Schema<'Checked'>>
  /** `ticked`: models that no one serves yet. */
  readonly add: (
    fields: Fields,
    ticked: ReadonlySet<string>,
    own: ReadonlyMap<string, OwnKind>,
    prices: ReadonlyMap<string, PriceForm>,
  ) => Promise<{ readonly upstream: string; readonly models: readonly Schema<'ModelRow'>[] }>
  /** Other fields are another upstream. */
  readonly forget: () => void
}

export function useConnect(): Connect {
  const check = useWrite('post', '/api/v1/upstreams/check')
  const createUpstream = useWrite('post', '/api/v1/upstreams', TOUCHED)
  const addModels = useWrite('post', '/api/v1/models', TOUCHED)
  /** What was made before something failed: asking again must not make it a second time. */
  const made = useRef<{ upstream?: string; models?: readonly Schema<'ModelRow'>[] }>({})
  return {
    check: (fields) => check.send({ body: questionOf(fields) }),
    forget: () => {
      made.current = {}
    },
    add: async (fields, ticked, own, prices) => {
      const upstream =
        made.current.upstream ?? (await createUpstream.send({ body: newUpstreamOf(fields) })).name
      made.current.upstream = upstream
      const kinds = [...own].filter(([id]) => ticked.has(id)).map(([id, one]) => [id, kindBody(one)] as const)
      const models =
        made.current.models ??
        (ticked.size === 0
          ? []
          : await addModels.send({
              body: {
                upstream,
                ids: [...ticked],
                ...(kinds.length > 0 && { own: Object.fromEntries(kinds) }),
                prices: Object.fromEntries([...prices].filter(([id]) => ticked.has(id))),
              },
            }))
      made.current.models = models
      made.current = {}
      return { upstream, models }
    },
  }
}

function kindBody({ kind, width }: OwnKind) {
  return kind === 'image' ? ({ kind } as const) : ({ kind, width } as const)
}
