/**
 * The catalog: what callers may ask for, and which deployments can serve it. It is an immutable value, built by
 * `config/` from torana.yaml and the built-in facts, and swapped whole on a reload, so that one request sees one catalog.
 */
import type { BudgetPeriod } from './budget.ts'
import type { Price } from './price.ts'

export type Encoding = 'float' | 'base64'

/** The wire language an upstream speaks. `demo` is the in-process model of a first start. */
export type DialectName = 'openai' | 'azure' | 'ai-sdk' | 'demo'

/** `none`: token ids of this model can't be turned into text, nor counted. */
export type Tokenizer = 'cl100k_base' | 'none'

/** What the text is for. Callers send it as `input_type`; models without the switch have the rule `none`. */
export type InputType = 'query' | 'document' | 'classification' | 'clustering' | 'similarity'

/**
 * How a model is told query from document. `field`: the upstream takes a value, named per input type. `prefix`: the model
 * card prescribes a text before the input, which Torana adds. `none`: the model is symmetric and knows no such switch.
 */
export type InputTypeRule =
  | { readonly rule: 'none' }
  | {
      readonly rule: 'field'
      /** The upstream's field, for dialects that pass it by name (`input_type`, `task`, `taskType`, `text_type`). */
      readonly field: string
      readonly values: Readonly<Partial<Record<InputType, string>>>
      /** Sent when the caller names none; absent: the field is left out. */
      readonly default?: InputType | undefined
    }
  | {
      readonly rule: 'prefix'
      readonly prefixes: Readonly<Partial<Record<InputType, string>>>
      readonly default?: InputType | undefined
    }

/** What is true of an embedding model wherever it runs. */
export interface EmbeddingFacts {
  /** Native width of its vectors. */
  readonly dimensions: number
  /** Declared so by its maker: the first d values, renormalised, are a good vector of width d. */
  readonly matryoshka: boolean
  /** Longest single input. Absent: not known, and the upstream is the judge. */
  readonly maxInputTokens?: number | undefined
  /** What token arrays from callers are decoded with. OpenAI's clients make them with cl100k_base, whatever the model. */
  readonly tokenizer: Tokenizer
  /** `exact` when `tokenizer` is the model's own, so that a count of ours is the upstream's count too. */
  readonly tokenCounts: 'exact' | 'estimated'
  readonly inputType: InputTypeRule
}

/** Which `dimensions` a deployment takes natively. */
export type NativeDimensions =
  | { readonly kind: 'none' }
  | { readonly kind: 'range'; readonly min: number; readonly max: number }
  | { readonly kind: 'list'; readonly values: readonly number[] }

/** Facts about one deployment's wire: catalog data, never guessed from a name. */
export interface EmbeddingCapabilities {
  /** Most inputs one call may carry. */
  readonly maxInputs: number
  /** Most tokens one call may carry in all. */
  readonly maxTokens?: number | undefined
  /** Largest request body in bytes. */
  readonly maxBytes?: number | undefined
  /** Forms the upstream can answer in. "float" is asked for by leaving the field out, which every server understands. */
  readonly encodings: readonly Encoding[]
  /**
   * Takes arrays of token ids in the vocabulary of `tokenizer`. Servers that take ids of their model's own vocabulary (TEI,
   * vLLM) are `false`: ids made by an OpenAI client would mean other words there, and nobody would notice.
   */
  readonly tokenArrays: boolean
  readonly dimensions: NativeDimensions
  /** The upstream's name for `dimensions`. */
  readonly dimensionsField: string
  /** Takes `user`. Where it does not, `user` is recorded and absorbed. */
  readonly user: boolean
  /** Calls of one request that may run side by side. */
  readonly maxParallelCalls: number
  /** Whether its token figures are counts. Where they are not, Torana estimates and says so. */
  readonly countsTokens: boolean
  /** Unknown request fields that do not change vectors, so that splitting and dedupe stay allowed. */
  readonly harmlessFields: readonly string[]
}

/** An endpoint plus a credential that we configured. */
export interface Upstream {
  readonly name: string
  readonly dialect: DialectName
  /** Company or server family: picks the built-in facts and, for `ai-sdk`, the package. */
  readonly provider?: string | undefined
  readonly baseUrl?: string | undefined
  readonly apiKey?: string | undefined
  /** Azure: a dated version selects the deployment-style path, `v1` the v1 path. */
  readonly apiVersion?: string | undefined
  /** Sent with every call. */
  readonly headers: Readonly<Record<string, string>>
  /** Provider settings of the AI SDK package (region, project, location…), passed as they are. */
  readonly settings: Readonly<Record<string, unknown>>
}

/** One model on one upstream. */
export interface Deployment {
  /** `<model>/<upstream>` or, when one upstream serves a model twice, `<model>/<upstream>/<upstream's model>`. */
  readonly id: string
  readonly upstream: Upstream
  /** What the upstream calls the model. */
  readonly upstreamModel: string
  /** Lower goes first. */
  readonly priority: number
  /** Share among deployments of one priority. */
  readonly weight: number
  readonly capabilities: EmbeddingCapabilities
  readonly price: Price
}

export interface EmbeddingModel {
  readonly id: string
  readonly kind: 'embedding'
  readonly aliases: readonly string[]
  readonly ownedBy: string
  readonly facts: EmbeddingFacts
  /** `<model>@<native width>:<8 hex>`. */
  readonly space: string
  /** What becomes of options that no deployment can honour, unless the request says otherwise. */
  readonly unsupported: 'refuse' | 'drop'
  readonly deployments: readonly Deployment[]
  /** Where it was declared, e.g. `torana.yaml:14`, or `built-in`. */
  readonly managedBy: string
}

export type Model = EmbeddingModel

export interface RetiredModel {
  readonly id: string
  readonly on: string
  readonly successor?: string | undefined
}

/** A key as configured: the secret itself is only held until it is hashed. */
export interface ConfiguredKey {
  readonly name: string
  readonly secret: string
  /** Model ids it may use; absent: all. */
  readonly models?: readonly string[] | undefined
  /** Unix milliseconds after which it is refused. */
  readonly expiresAtMs?: number | undefined
  readonly limits?: ConfiguredLimits | undefined
  readonly budget?: ConfiguredBudget | undefined
}

/** Each absent: no such limit. */
export interface ConfiguredLimits {
  readonly requestsPerMinute?: number | undefined
  readonly tokensPerMinute?: number | undefined
  readonly imagesPerMinute?: number | undefined
}

export interface ConfiguredBudget {
  readonly limitNanoUsd: bigint
  readonly per: BudgetPeriod
  readonly hard: boolean
}

export interface Project {
  readonly name: string
  readonly keys: readonly ConfiguredKey[]
  readonly limits?: ConfiguredLimits | undefined
  readonly budget?: ConfiguredBudget | undefined
}

export interface Catalog {
  /** By id and by alias. */
  readonly models: ReadonlyMap<string, Model>
  readonly retired: ReadonlyMap<string, RetiredModel>
  readonly projects: readonly Project[]
}

/** Every model once, in the order declared. */
export function listModels(catalog: Catalog): Model[] {
  return [...new Set(catalog.models.values())]
}
