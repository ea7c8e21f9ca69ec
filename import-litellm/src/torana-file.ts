/** The torana.yaml that an import makes, and how it is written down. */
import { Document, isCollection, isScalar, Pair, Scalar, visit, YAMLMap, YAMLSeq } from 'yaml'
import { literal } from './read.ts'
import { printable, type Place } from './notes.ts'

export interface UpstreamDraft {
  readonly provider?: string | undefined
  readonly dialect?: 'openai' | 'azure' | undefined
  readonly resource?: string | undefined
  readonly baseUrl?: string | undefined
  readonly apiKey?: string | undefined
  readonly apiVersion?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly settings?: Readonly<Record<string, unknown>> | undefined
}

export type PriceDraft = 'free' | { readonly usdPerMillionTokens: number } | { readonly usdPerImage: number }

export interface LimitsDraft {
  readonly requestsPerMinute?: number | undefined
  readonly tokensPerMinute?: number | undefined
}

export interface DeploymentDraft {
  readonly upstream: string
  readonly model: string | undefined
  readonly priority: number
  readonly weight: number
  readonly price: PriceDraft | undefined
  readonly limits: LimitsDraft | undefined
  readonly comment: string
}

export interface ModelDraft {
  readonly places: readonly Place[]
  /** The built-in facts that describe its vectors. Undefined: the model is unknown. */
  readonly identity: string | undefined
  readonly facts: string | undefined
  readonly aliases: string[]
  readonly embedding: Readonly<Record<string, unknown>> | undefined
  readonly dropsUnsupported: boolean
  /** How long vectors are kept: `3600s`. Undefined: no cache. */
  readonly cacheTtl: string | undefined
  readonly deployments: DeploymentDraft[]
}

export interface KeyDraft {
  readonly name: string
  readonly secret: string
  readonly comment: string
}

export interface ToranaFile {
  readonly upstreams: ReadonlyMap<
    string,
    { readonly draft: UpstreamDraft; readonly comment: string | undefined }
  >
  readonly models: ReadonlyMap<string, ModelDraft>
  /** Goes to project `default`. */
  readonly masterKey: KeyDraft | undefined
}

/** Small things that read better on one line. */
const ON_ONE_LINE = new Set(['aliases', 'price', 'embedding', 'limits', 'cache'])

/** `source` is the name of the file that was imported. */
export function toranaYaml({ upstreams, models, masterKey }: ToranaFile, source: string): string {
  const document = new Document()
  document.commentBefore = ` Made by \`torana import litellm\` from ${source}. Check it with: torana check`
  const sections: readonly (readonly [string, readonly Entry[]])[] = [
    ['upstreams', [...upstreams].map(([name, { draft, comment }]) => [name, draft, comment])],
    [
      'models',
      [...models].map(([id, model]) => [id, modelFields(document, id, model), model.places.join(', ')]),
    ],
    ['projects', masterKey ? [['default', { keys: keyList(document, masterKey) }, undefined]] : []],
  ]
  const root = new YAMLMap()
  for (const [name, entries] of sections) {
    if (entries.length === 0) continue
    const key = new Scalar(name)
    key.spaceBefore = root.items.length > 0
    root.items.push(new Pair(key, mapping(document, entries)))
  }
  document.contents = root
  visit(document, {
    Pair(_, { key, value }) {
      if (isCollection(value) && isScalar(key) && ON_ONE_LINE.has(String(key.value))) value.flow = true
    },
  })
  return document.toString({ lineWidth: 0, flowCollectionPadding: true })
}

/** Name, content and the comment before it. */
type Entry = readonly [string, unknown, string | undefined]

function modelFields(document: Document, id: string, draft: ModelDraft): unknown {
  const { facts, aliases, embedding, dropsUnsupported, cacheTtl, deployments } = draft
  return {
    kind: embedding && 'embedding',
    facts: facts === id ? undefined : facts,
    aliases: aliases.length > 0 ? aliases.map(literal) : undefined,
    embedding,
    unsupported: dropsUnsupported ? 'drop' : undefined,
    cache: cacheTtl === undefined ? undefined : { ttl: cacheTtl },
    deployments: list(
      document,
      deployments.map(({ upstream, model, priority, weight, price, limits, comment }) => [
        {
          upstream,
          model,
          priority: priority || undefined,
          weight: weight === 1 ? undefined : weight,
          price,
          limits,
        },
        comment,
      ]),
    ),
  }
}

function keyList(document: Document, { comment, ...fields }: KeyDraft): YAMLSeq {
  return list(document, [[fields, comment]])
}

function mapping(document: Document, entries: readonly Entry[]): YAMLMap {
  const map = new YAMLMap()
  for (const [name, value, comment] of entries) {
    const key = new Scalar(name)
    if (comment !== undefined) key.commentBefore = ` ${printable(comment)}`
    map.items.push(new Pair(key, document.createNode(value)))
  }
  return map
}

function list(document: Document, entries: readonly (readonly [unknown, string])[]): YAMLSeq {
  const sequence = new YAMLSeq()
  for (const [value, comment] of entries) {
    const node = document.createNode(value)
    node.commentBefore = ` ${printable(comment)}`
    sequence.items.push(node)
  }
  return sequence
}
