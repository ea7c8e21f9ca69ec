/** What the environment decides. Each limit has its reason beside it; `config/environment.ts` fills it in. */

export interface Settings {
  readonly host: string
  readonly port: number
  readonly controlHost: string
  readonly controlPort: number
  readonly dataDir: string
  readonly configFile: string | undefined
  readonly logLevel: LogLevel
  readonly publicUrl: string | undefined
  readonly database: DatabaseSettings
  readonly assets: AssetSettings
  /** Shared rate limits; unset: each process counts for itself. */
  readonly redisUrl: string | undefined
  readonly secret: string | undefined
  /** The secret before the last change, while keys and credentials move over to the new one. */
  readonly previousSecret: string | undefined
  readonly adminToken: string | undefined
  readonly bootstrapKey: string | undefined
  readonly openaiApiKey: string | undefined
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY; undefined when no proxy is set. */
  readonly proxy: ProxySettings | undefined
  readonly limits: Limits
}

export type DatabaseSettings =
  /** Keeps nothing. */
  | { readonly kind: 'memory' }
  /** PostgreSQL inside this process, in a folder. */
  | { readonly kind: 'inside'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** Where pictures are kept. */
export type AssetSettings =
  | { readonly kind: 'file'; readonly folder: string }
  | {
      readonly kind: 's3'
      readonly bucket: string
      /** The folder before every name, without a slash at its ends; empty: none. */
      readonly prefix: string
      readonly region: string
      /** Undefined: Amazon's own. */
      readonly endpoint: string | undefined
      readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
    }

export interface ProxySettings {
  readonly http?: string | undefined
  readonly https?: string | undefined
  readonly no?: string | undefined
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export interface Limits {
  /** OpenAI's own bound on `input`; clients chunk by it. */
  readonly maxInputs: number
  /** 2,048 inputs × 4 KB: more text in one request would hold memory for minutes of upstream work. */
  readonly embeddingsBodyBytes: number
  /** 2,048 × 4,096 dimensions as widened JSON numbers is 180 MB; beyond this an answer is a fault, not a vector. */
  readonly answerBytes: number
  /** Nobody waits longer than this for a TCP and TLS handshake. */
  readonly connectTimeoutMs: number
  /** One upstream call. Embeddings answer in seconds; slower than this is a hang. */
  readonly attemptTimeoutMs: number
  /** The whole request, retries included: below the SDKs' own time-outs, so that they see our error. */
  readonly requestTimeoutMs: number
  /** Slow header senders hold a socket, nothing else; ten seconds is generous. */
  readonly headersTimeoutMs: number
  /** Deployments tried for one batch. */
  readonly maxAttempts: number
  /** OpenAI's own bound on `n`. */
  readonly maxImages: number
  /** A prompt of 32,000 characters with every one of them escaped, and its options. */
  readonly imagesBodyBytes: number
  /** One image request. The slowest models take minutes; the SDKs wait ten. */
  readonly imageTimeoutMs: number
  /** Each holds its pictures in memory while they arrive: some ten megabytes. */
  readonly maxImageJobs: number
  /** Pictures are kept so long, and may be fetched by a key of their project. */
  readonly assetRetentionMs: number
  /** A signed link is valid so long. */
  readonly assetLinkMs: number
}

export const defaultLimits: Limits = {
  maxInputs: 2048,
  embeddingsBodyBytes: 8 * 1024 * 1024,
  answerBytes: 256 * 1024 * 1024,
  connectTimeoutMs: 5_000,
  attemptTimeoutMs: 30_000,
  requestTimeoutMs: 60_000,
  headersTimeoutMs: 10_000,
  maxAttempts: 4,
  maxImages: 10,
  imagesBodyBytes: 1024 * 1024,
  imageTimeoutMs: 600_000,
  maxImageJobs: 256,
  assetRetentionMs: 7 * 24 * 3_600_000,
  assetLinkMs: 24 * 3_600_000,
}
