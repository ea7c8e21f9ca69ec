/** What is known of an embedding model and of the wires of its deployments. */
import type { TypeCapabilities, TypeFacts } from './vector-type.ts'
import type { ContentCapabilities, MediaTokens } from './content-capabilities.ts'

export type Encoding = 'float' | 'base64'

/** `none`: token ids of this model can't be turned into text, nor counted. */
export type Tokenizer = 'cl100k_base' | 'none'

/** What the text is for. Callers send it as `input_type`; models without the switch have the rule `none`. */
export type InputType = 'query' | 'document' | 'classification' | 'clustering' | 'similarity'

/**
 * How a model distinguishes query from document. `field`: the upstream takes a value, named per input type. `prefix`: the model
 * card prescribes a text before the input, which Torana adds. `none`: the model is symmetric and has no such switch.
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

/** Facts of an embedding model that hold wherever it runs. */
export interface EmbeddingFacts extends TypeFacts {
  /** Native width of its vectors. */
  readonly dimensions: number
  /** By its maker's declaration: the first d values, renormalised, are a good vector of width d. */
  readonly matryoshka: boolean
  /** Longest single input. Absent when not known: the upstream decides. */
  readonly maxInputTokens?: number | undefined
  /** The tokenizer that decodes token arrays of callers. OpenAI's clients make them with cl100k_base, whatever the model. */
  readonly tokenizer: Tokenizer
  /** `exact` when `tokenizer` is the model's own, so that a count of ours is the upstream's count too. */
  readonly tokenCounts: 'exact' | 'estimated'
  readonly inputType: InputTypeRule
  /** Absent for models that read texts alone. */
  readonly mediaTokens?: MediaTokens | undefined
}

/** Which `dimensions` a deployment takes natively. */
export type NativeDimensions =
  | { readonly kind: 'none' }
  | { readonly kind: 'range'; readonly min: number; readonly max: number }
  | { readonly kind: 'list'; readonly values: readonly number[] }

/** Facts about one deployment's wire: catalog data, never guessed from a name. */
export interface EmbeddingCapabilities extends TypeCapabilities {
  /** Most inputs one call may carry. */
  readonly maxInputs: number
  readonly maxTokens?: number | undefined
  /** Largest request body in bytes. */
  readonly maxBytes?: number | undefined
  /** Forms in which the upstream can answer. "float" is requested by leaving the field out, which every server understands. */
  readonly encodings: readonly Encoding[]
  /** Accepts token ids of `tokenizer`. `false` for TEI and vLLM: to them, ids of an OpenAI client mean other words. */
  readonly tokenArrays: boolean
  readonly dimensions: NativeDimensions
  /** The upstream's name for `dimensions`. */
  readonly dimensionsField: string
  /** Whether vectors that it shortened have length 1. Torana scales the others. */
  readonly unitDimensions: boolean
  /** Takes `user`. Where it does not, `user` is recorded and absorbed. */
  readonly user: boolean
  /** Calls of one request that may run in parallel. */
  readonly maxParallelCalls: number
  /** Whether its token figures are counts. Where they are not, Torana estimates and says so. */
  readonly countsTokens: boolean
  /** Unknown request fields that do not change vectors: answers keep the name of their space, and may be split, merged and cached. */
  readonly harmlessFields: readonly string[]
  /** Undefined: it takes texts alone. */
  readonly contents?: ContentCapabilities | undefined
}
