/** The settings of the environment. Each limit has its reason beside it; `config/environment.ts` fills it in. */
import type { AddressRange } from './access/client-address.ts'
import type { NodeRole } from './node/node-role.ts'

export interface Settings {
  readonly role: NodeRole
  /** Processes under one supervisor; undefined: this process is the node. */
  readonly workers: number | undefined
  /** For both ports; undefined: they speak plain HTTP. */
  readonly tls: TlsSettings | undefined
  readonly host: string
  readonly port: number
  readonly controlHost: string
  readonly controlPort: number
  readonly dataDir: string
  readonly configFile: string | undefined
  readonly logLevel: LogLevel
  readonly logFormat: LogFormat
  /** Answers say where their time went. */
  readonly serverTiming: boolean
  /** Undefined: no traces. */
  readonly tracing: TracingSettings | undefined
  readonly publicUrl: string | undefined
  /** Proxies that may report the address of a client. */
  readonly trustedProxies: readonly AddressRange[]
  readonly database: DatabaseSettings
  readonly assets: AssetSettings
  /** Shared rate limits; unset: each process counts for itself. */
  readonly redisUrl: string | undefined
  /** The vector cache that all nodes share; unset: each process keeps its own. */
  readonly cacheUrl: string | undefined
  readonly secret: string | undefined
  /** The secret before the last change, while keys and credentials move over to the new one. */
  readonly previousSecret: string | undefined
  readonly adminToken: string | undefined
  /** No token of the node opens the control port. Commands on this machine use the socket. */
  readonly adminTokenOff: boolean
  /** The name of this install for people. */
  readonly name: string | undefined
  /** Named in the keys that this node makes. Undefined: this install has no cells. */
  readonly cell: string | undefined
  /** Where people open the console, without a slash at its end. */
  readonly consoleUrl: string | undefined
  /** The mail server for alerts; undefined: mail can't be sent. */
  readonly smtp: SmtpSettings | undefined
  /** Sign-in over plain http from other machines. */
  readonly insecureConsole: boolean
  readonly bootstrapKey: string | undefined
  readonly openaiApiKey: string | undefined
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY; undefined when no proxy is set. */
  readonly proxy: ProxySettings | undefined
  readonly limits: Limits
}

export interface SmtpSettings {
  /** With the password. */
  readonly url: string
  readonly from: string
}

/** Files in PEM form. They are read again when they change. */
export interface TlsSettings {
  readonly certFile: string
  readonly keyFile: string
  /** Only clients with a certificate of this authority are accepted. */
  readonly clientCaFile: string | undefined
}

export type DatabaseSettings =
  /** PostgreSQL inside this process, in a folder. */
  { readonly kind: 'inside'; readonly folder: string } | { readonly kind: 'postgres'; readonly url: string }

/** Its name in messages. */
export function databaseName(kind: DatabaseSettings['kind']): string {
  return kind === 'postgres' ? 'PostgreSQL' : 'the built-in database'
}

/** Where images are kept. */
export type AssetSettings =
  | { readonly kind: 'file'; readonly folder: string }
  | {
      readonly kind: 's3'
      readonly bucket: string
      /** The folder before every name, without slashes at its ends; empty: none. */
      readonly prefix: string
      readonly region: string
      /** Undefined: Amazon's own. */
      readonly endpoint: string | undefined
      /** Undefined: those of the machine or the container, as the AWS SDK finds them. */
      readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
    }

export interface ProxySettings {
  readonly http?: string | undefined
  readonly https?: string | undefined
  readonly no?: string | undefined
}

/** Which web pages may call the public API from a browser. */
export interface CorsSettings {
  readonly origins: '*' | readonly string[]
}

/** Where the ledger is kept. */
export interface LedgerSettings {
  /** Whether sealed days are written to the blob store. Undefined: where that is a bucket, or `keepDays` is set. */
  readonly export?: boolean | undefined
  /** Days that PostgreSQL keeps of the exported ledger. */
  readonly keepDays: number | 'forever'
}

/**
 * Fewest days that PostgreSQL keeps: the request log, resolved unknowns and suspect vectors look back 30 days, and an unknown is
 * open for eight.
 */
export const MIN_KEEP_DAYS = 35

/** Limits of one member in the playground of one project, on top of the project's own. */
export interface PlaygroundSettings {
  /** Undefined: as many as the project may. */
  readonly requestsPerMinute?: number | undefined
  /** Undefined: as much as the project may. */
  readonly usdPerDay?: number | undefined
}

/** Traces by OpenTelemetry. */
export interface TracingSettings {
  /** The receiver, by OTLP over HTTP. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Attributes that identify the service. */
  readonly resource: Readonly<Record<string, string>>
  /** The share of requests that is traced, from 0 to 1. */
  readonly ratio: number
  /** A request with a trace is sampled like its caller. */
  readonly followsParent: boolean
  /** Upstreams receive the trace. */
  readonly isHandedOn: boolean
  /** Upstreams get the caller's baggage. */
  readonly isBaggageHandedOn: boolean
}

/** `auto`: text on a terminal, JSON elsewhere. */
export type LogFormat = 'auto' | 'text' | 'json'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export interface Limits {
  /** OpenAI's own bound on `input`; clients split by it. */
  readonly maxInputs: number
  /** 2,048 inputs × 4 KB: more text in one request would hold memory for minutes of upstream work. */
  readonly embeddingsBodyBytes: number
  /** An embeddings request with media, which is held in memory as a whole until they are on disk: 48 MB of them in base64. */
  readonly contentsBodyBytes: number
  /** One image, sound, video or PDF to embed: more than any provider takes in a call. */
  readonly contentPartBytes: number
  /** Length of a sound or video: models take minutes, and longer ones are cut into pieces before. */
  readonly maxContentSeconds: number
  /** Pages of a PDF: models take a few, and each is an image to them. */
  readonly maxContentPages: number
  /** 2,048 × 4,096 dimensions as widened JSON numbers is 180 MB; beyond this an answer is a fault, not a vector. */
  readonly answerBytes: number
  /** Longest TCP and TLS handshake. */
  readonly connectTimeoutMs: number
  /** One upstream call. Embeddings answer in seconds; slower than this is a hang. */
  readonly attemptTimeoutMs: number
  /** The whole request, retries included: below the SDKs' own timeouts, so that they see our error. */
  readonly requestTimeoutMs: number
  /** Slow header senders hold a socket, nothing else; ten seconds is generous. */
  readonly headersTimeoutMs: number
  /** Each takes some ten kilobytes, and up to 128 KB while a body begins to arrive: half of a node of 2 GB at the worst. */
  readonly maxConnections: number
  /**
   * Connections of the control port: consoles hold some six each, programs one. Separate from callers', so that neither
   * takes them from the others.
   */
  readonly controlConnections: number
  /** Deployments tried for one batch. */
  readonly maxAttempts: number
  /** OpenAI's own bound on `n`. */
  readonly maxImages: number
  /** A prompt of 32,000 characters with every one of them escaped, and its options. */
  readonly imagesBodyBytes: number
  /** One image request. The slowest models take minutes; the SDKs wait ten. */
  readonly imageTimeoutMs: number
  /** Each holds its images in memory while they arrive: some ten megabytes. */
  readonly maxImageJobs: number
  /** Retention of images: until then a key of their project may fetch them. */
  readonly assetRetentionMs: number
  /** Validity of a signed link. */
  readonly assetLinkMs: number
  /** OpenAI's own bound on images to edit. */
  readonly maxEditPictures: number
  /** OpenAI's own bound on one of them. */
  readonly editFileBytes: number
  /** A multipart edit in total. It goes to disk, not to memory: 16 images of 50 MB work when this is raised. */
  readonly editsBodyBytes: number
  /** An edit as JSON, which is held in memory as a whole: its images, a third larger in base64. */
  readonly editsJsonBytes: number
  /** Decoders need four bytes per pixel, and upstreams accept fewer. */
  readonly maxPicturePixels: number
  /** Where decoders begin to fail. */
  readonly maxPictureEdge: number
  /** Bodies in memory, of all requests that arrive, and of embeddings until they are answered: an eighth of a node of 2 GB. */
  readonly bodyBytes: number
  /** Idle time after which an arriving body is given up: its sender is gone, or wants to hold a connection. */
  readonly uploadIdleMs: number
  /** Time without a read after which a client is given up: it is gone, or wants to hold the answer in memory. */
  readonly downloadIdleMs: number
  /** From the order to stop to the end: 5 s more than an embeddings request may take. Orchestrators must wait longer. */
  readonly drainMs: number
  /** Load balancers check every one to five seconds. Until they have noticed, the node still accepts what they send. */
  readonly stopDelayMs: number
  /** Files of all requests on this node's disk: more than all its image jobs and contents should ever hold. */
  readonly uploadBytes: number
  /** Files of one edit for an upstream whose wire can't stream from disk, such as those of the AI SDK. */
  readonly bufferedEditBytes: number
  /** Such files of all requests in memory at once, and images while they are fetched. */
  readonly bufferedBytes: number
  /** One file in a form: OpenAI's own bound. */
  readonly fileBytes: number
  /** One file in parts: OpenAI's own bound. */
  readonly uploadFileBytes: number
  /** Files of one project: as many as one page of OpenAI's list holds. */
  readonly maxFiles: number
  /** Bytes of one project, in files, uploads in progress and results of batches: a hundred times the largest file. */
  readonly filesBytes: number
  /**
   * Free space that uploads, files and results leave on a disk of this node: an hour of the ledger's spool on a busy node,
   * and the built-in database.
   */
  readonly diskReserveBytes: number
  /**
   * Whether images and other media that a caller names by address are fetched. Off: only upstreams that fetch themselves get the address.
   */
  readonly fetchImageUrls: boolean
  /** Longest wait in the queue for a deployment: a refused caller can go elsewhere. */
  readonly queueWaitMs: number
  /** Queue limit per model: each entry holds a request in memory. */
  readonly maxQueued: number
  /** Whether requests are refused unread while the event loop is late. */
  readonly overloadBrake: boolean
  /** Vectors kept in this process: some forty thousand of 1,536 values. */
  readonly cacheBytes: number
}

export const defaultLimits: Limits = {
  maxInputs: 2048,
  embeddingsBodyBytes: 8 * 1024 * 1024,
  contentsBodyBytes: 64 * 1024 * 1024,
  contentPartBytes: 50 * 1024 * 1024,
  maxContentSeconds: 3600,
  maxContentPages: 1000,
  answerBytes: 256 * 1024 * 1024,
  connectTimeoutMs: 5_000,
  attemptTimeoutMs: 30_000,
  requestTimeoutMs: 60_000,
  headersTimeoutMs: 10_000,
  maxConnections: 10_000,
  controlConnections: 1000,
  maxAttempts: 4,
  maxImages: 10,
  imagesBodyBytes: 1024 * 1024,
  imageTimeoutMs: 600_000,
  maxImageJobs: 256,
  assetRetentionMs: 7 * 24 * 3_600_000,
  assetLinkMs: 24 * 3_600_000,
  maxEditPictures: 16,
  editFileBytes: 50 * 1024 * 1024,
  editsBodyBytes: 256 * 1024 * 1024,
  editsJsonBytes: 32 * 1024 * 1024,
  maxPicturePixels: 50_000_000,
  maxPictureEdge: 16_384,
  bodyBytes: 256 * 1024 * 1024,
  uploadIdleMs: 30_000,
  downloadIdleMs: 30_000,
  drainMs: 65_000,
  stopDelayMs: 5_000,
  uploadBytes: 16 * 1024 ** 3,
  bufferedEditBytes: 20 * 1024 * 1024,
  bufferedBytes: 256 * 1024 * 1024,
  fileBytes: 512 * 1024 ** 2,
  uploadFileBytes: 8 * 1024 ** 3,
  maxFiles: 10_000,
  filesBytes: 800 * 1024 ** 3,
  diskReserveBytes: 1024 ** 3,
  fetchImageUrls: false,
  queueWaitMs: 2000,
  maxQueued: 4096,
  overloadBrake: true,
  cacheBytes: 256 * 1024 * 1024,
}
