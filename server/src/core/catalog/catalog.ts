/**
 * The catalog: what callers may ask for, and which deployments can serve it. It is an immutable value, built by `config/` from
 * torana.yaml and the built-in facts, and swapped whole on a reload, so that one request sees one catalog.
 */
import type { DeclaredAlerts } from '../alerts/rule.ts'
import type { BudgetPeriod } from '../money/budget.ts'
import type { EmbeddingCapabilities, EmbeddingFacts } from './embedding-facts.ts'
import type { ConfiguredBounds } from './key-bounds.ts'
import type { MicroBatchRules } from './micro-batch-rules.ts'
import type { ModelEnd, RetiredModel } from './model-end.ts'
import type { ImagePrice, Price, PriceFrom } from '../money/price.ts'
import type { DeploymentLimits } from '../limits/limit.ts'
import type { UpstreamTls } from './upstream-tls.ts'
import type { ConfiguredWebhook } from './webhook.ts'

export type {
  EmbeddingCapabilities,
  EmbeddingFacts,
  Encoding,
  InputType,
  InputTypeRule,
  NativeDimensions,
  Tokenizer,
} from './embedding-facts.ts'

/** The wire language an upstream speaks. `demo` is the in-process model of a first start. */
export type DialectName = 'openai' | 'azure' | 'ai-sdk' | 'demo'

/** Image formats that Torana can make of one another. */
export type ImageFormat = 'png' | 'jpeg' | 'webp'

/** Image formats that Torana can't make. */
export type PassedFormat = 'gif' | 'svg'

/** How an answer contains its images. */
export type PictureForm = 'b64_json' | 'url'

export interface PixelSize {
  readonly width: number
  readonly height: number
}

/** A size that a deployment makes, and the words that request it, where they are not `<width>x<height>`. */
export interface OfferedSize extends PixelSize {
  /** `16:9`. */
  readonly aspectRatio?: string | undefined
  /** The upstream's own word for how large: `2K`. */
  readonly resolution?: string | undefined
}

/** The sizes that a deployment makes. */
export type ImageSizes =
  /** These and no others. The first is the default. */
  | { readonly kind: 'list'; readonly values: readonly OfferedSize[] }
  /** Any within bounds. */
  | {
      readonly kind: 'free'
      readonly default: PixelSize
      /** Both edges are multiples of it. */
      readonly multipleOf: number
      readonly minPixels: number
      readonly maxPixels: number
      readonly maxEdge: number
      /** Longer edge to shorter edge. */
      readonly maxRatio: number
    }
  /** Not known: the upstream decides, and `default` only bounds the cost. */
  | { readonly kind: 'any'; readonly default: PixelSize }

/** Tokens of one image by size (`1024x1024`), then by quality; `default` covers all that are not named. */
export type ImageTokenTable = ReadonlyMap<string, ReadonlyMap<string, number>>

/** Facts of an image model that hold wherever it runs. */
export interface ImageFacts {
  readonly maxPromptCharacters: number
  /** How images are returned when the caller does not say. */
  readonly answersWith: PictureForm
  /** Upper bound of the output tokens of an image, for models that charge by them: it is reserved. Undefined: not known. */
  readonly outputTokens: ImageTokenTable | undefined
  /** Upper bound of the input tokens of an image to edit: it is reserved. Undefined: not known. */
  readonly inputImageTokens: number | undefined
}

/**
 * How a mask marks what is to change. `alpha`: it is fully transparent there, as in OpenAI's API. `white`, `black`: it has that
 * colour there and the other one elsewhere.
 */
type MaskPolarity = 'alpha' | 'white' | 'black'

/** How a wire of the OpenAI family accepts images to edit. */
export type EditBody = 'multipart' | 'json'

/** What a deployment can do with images it is given. */
export interface ImageEdits {
  readonly maxInputs: number
  readonly inputFormats: readonly ImageFormat[]
  /** Undefined: it takes no mask. */
  readonly mask: MaskPolarity | undefined
  /** Takes `markup`, a drawing on top of the image. */
  readonly markup: boolean
  /** Which `input_fidelity` it takes. */
  readonly fidelities: readonly string[]
  /** The first is used for files; addresses go in JSON alone. Has no meaning for wires outside the OpenAI family. */
  readonly bodies: readonly EditBody[]
  /** Form field of each image when there are several. Absent: `image[]`. */
  readonly imageField?: 'image' | 'image[]' | undefined
  readonly maxFileBytes: number
}

/** Facts about one image deployment's wire. An option with an empty list is one it does not have. */
export interface ImageCapabilities {
  /** Images that one call may ask for. More are made by several calls. */
  readonly maxImages: number
  readonly sizes: ImageSizes
  readonly qualities: readonly string[]
  readonly backgrounds: readonly string[]
  readonly moderations: readonly string[]
  readonly complexities?: readonly string[] | undefined
  /** Formats that can be requested. The first is the default; with one format there is no such field. */
  readonly formats: readonly ImageFormat[]
  /** Formats that only the upstream makes. Torana passes them on. */
  readonly passedFormats?: readonly PassedFormat[] | undefined
  /** Takes `output_compression`. */
  readonly compression: boolean
  /** Forms in which its wire returns images; the first is the default. */
  readonly forms: readonly PictureForm[]
  readonly stream: boolean
  readonly maxPartialImages: number
  /** Takes `user` and `safety_identifier`. Where it does not, they are recorded and absorbed. */
  readonly user: boolean
  /** Calls of one request that may run in parallel. */
  readonly maxParallelCalls: number
  /** Unknown request fields whose price is known not to depend on them. */
  readonly harmlessFields: readonly string[]
  /** Request fields that it is known to refuse. Absent: none is. */
  readonly refusedFields?: readonly string[] | undefined
  /**
   * The field of its answers (`usage.cost`) that holds the cost of the call, and the value of its unit. Absent when there is
   * none, or it is not known.
   */
  readonly reportedCost?: { readonly field: string; readonly usdPerUnit: number } | undefined
  /** Undefined: it makes images from text alone. */
  readonly edits: ImageEdits | undefined
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
  /** Private hosts, with their port unless it is the scheme's default, that its links to images may name. */
  readonly pictureHosts?: readonly string[] | undefined
  readonly tls?: UpstreamTls | undefined
}

/** One model on one upstream. */
interface DeploymentOf<Capabilities, DeploymentPrice> {
  /** `<model>/<upstream>` or, when one upstream serves a model twice, `<model>/<upstream>/<upstream's model>`. */
  readonly id: string
  readonly upstream: Upstream
  /** What the upstream calls the model. */
  readonly upstreamModel: string
  /** Lower goes first. */
  readonly priority: number
  /** Share among deployments of one priority. */
  readonly weight: number
  readonly capabilities: Capabilities
  readonly price: DeploymentPrice
  /** Source of the price. Absent when there is no price. */
  readonly priceFrom?: PriceFrom | undefined
  /** Where the facts about it were read, and when. Absent when the catalogue has none. */
  readonly factsFrom?: { readonly source: string; readonly asOf: string } | undefined
  /** Limits over all nodes together; each node keeps to its share. Absent: no such limits. */
  readonly limits?: DeploymentLimits | undefined
  /** The day on which its provider shuts the model down. Absent: no day is known. */
  readonly end?: ModelEnd | undefined
  /** Names beside `upstreamModel` by which the upstream may answer. Absent: there is none. */
  readonly answersAs?: readonly string[] | undefined
  /** Where it was declared, e.g. `torana.yaml:16`, `store` or `built-in`. Absent: where its model was. */
  readonly managedBy?: string | undefined
}

export type Deployment = DeploymentOf<EmbeddingCapabilities, Price>
export type ImageDeployment = DeploymentOf<ImageCapabilities, ImagePrice>

export interface EmbeddingModel {
  readonly id: string
  readonly kind: 'embedding'
  readonly aliases: readonly string[]
  readonly ownedBy: string
  readonly facts: EmbeddingFacts
  /** Treatment of options that no deployment can honour, unless the request says otherwise. */
  readonly unsupported: 'refuse' | 'drop'
  /** Fields that Torana does not know but passes on, beside a deployment's `harmlessFields`. Absent: all. */
  readonly unknownFields?: readonly string[] | undefined
  readonly deployments: readonly Deployment[]
  /** How long its vectors are cached. Undefined: not at all. */
  readonly cache: { readonly ttlMs: number } | undefined
  /** Whether its deployments are probed, and excluded when outside its space. */
  readonly isGuarded: boolean
  /** The name of the space that the configuration declares for it and other models. Absent: it has one of its own alone. */
  readonly space?: string | undefined
  /** Undefined: every request makes its own calls. */
  readonly microBatch: MicroBatchRules | undefined
  /** Longest single call. Absent: that of the node's limits. */
  readonly attemptTimeoutMs?: number | undefined
  /** Where it was declared, e.g. `torana.yaml:14`, or `built-in`. */
  readonly managedBy: string
  /** The end of the deployment that ends last. Absent when one of them has no end. */
  readonly end?: ModelEnd | undefined
}

export interface ImageModel {
  readonly id: string
  readonly kind: 'image'
  readonly aliases: readonly string[]
  readonly ownedBy: string
  readonly facts: ImageFacts
  readonly unsupported: 'refuse' | 'drop'
  readonly unknownFields?: readonly string[] | undefined
  readonly deployments: readonly ImageDeployment[]
  readonly managedBy: string
  readonly end?: ModelEnd | undefined
}

export type Model = EmbeddingModel | ImageModel

/** A key as configured: the secret itself is only held until it is hashed. */
export interface ConfiguredKey extends ConfiguredBounds {
  readonly name: string
  readonly secret: string
  /** Model ids it may use; absent: all. */
  readonly models?: readonly string[] | undefined
  /** Unix milliseconds after which it is refused. */
  readonly expiresAtMs?: number | undefined
  readonly limits?: ConfiguredLimits | undefined
  readonly budget?: ConfiguredBudget | undefined
  /** Where it was declared, e.g. `torana.yaml:88` or `environment`. */
  readonly managedAt?: string | undefined
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
  readonly webhooks?: readonly ConfiguredWebhook[] | undefined
  readonly managedAt?: string | undefined
}

/** An upstream, also one without models, and where it was declared: `torana.yaml:3`, `built-in` or `store`. */
export type KnownUpstream = { readonly upstream: Upstream; readonly managedBy: string }

export interface Catalog {
  /** By id and by alias. */
  readonly models: ReadonlyMap<string, Model>
  readonly retired: ReadonlyMap<string, RetiredModel>
  readonly projects: readonly Project[]
  readonly upstreams?: ReadonlyMap<string, KnownUpstream> | undefined
  /** Rules and channels of torana.yaml. */
  readonly alerts?: DeclaredAlerts | undefined
}

/** Every model once, in the order declared. */
export function listModels(catalog: Catalog): Model[] {
  return [...new Set(catalog.models.values())]
}

/** The id behind a requested name, also of a retired model. Undefined when the name is the caller's invention. */
export function idOf({ models, retired }: Catalog, name: string): string | undefined {
  return models.get(name)?.id ?? retired.get(name)?.id
}

/** Every upstream that a model runs on, once. */
export function upstreamsOf(catalog: Catalog): Upstream[] {
  const deployments = listModels(catalog).flatMap<{ readonly upstream: Upstream }>(
    (model) => model.deployments,
  )
  return [...new Map(deployments.map(({ upstream }) => [upstream.name, upstream])).values()]
}
