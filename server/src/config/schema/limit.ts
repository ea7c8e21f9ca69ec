/** `limits` of torana.yaml: each with its reason. */
import { z } from 'zod'
import { defaultLimits } from '#core/settings.ts'

// At most an hour: no one waits longer for an embedding, and timers overflow at 24 days.
const duration = (defaultMs: number) => z.int().min(1).max(3_600_000).default(defaultMs)
// At most a year: what must be kept longer belongs into a store of the caller.
const keeping = (defaultMs: number) => z.int().min(1).max(31_536_000_000).default(defaultMs)
const amount = (defaultAmount: number) => z.int().min(1).default(defaultAmount)

/** Each of the first is taken out of the second, so that a request which is allowed always has room. */
const WITHIN = [
  ['embeddingsBodyBytes', 'bodyBytes'],
  ['imagesBodyBytes', 'bodyBytes'],
  ['editsJsonBytes', 'bodyBytes'],
  ['bufferedEditBytes', 'bufferedBytes'],
  ['editsBodyBytes', 'uploadBytes'],
] as const

const fields = z.strictObject({
  maxInputs: amount(defaultLimits.maxInputs).describe(
    "Most inputs of one request. OpenAI's own limit, which clients use.",
  ),
  embeddingsBodyBytes: amount(defaultLimits.embeddingsBodyBytes).describe(
    'Largest embeddings request in bytes: 2,048 inputs of 4 KB.',
  ),
  contentsBodyBytes: amount(defaultLimits.contentsBodyBytes).describe(
    'Largest embeddings request with images, audio, video or PDF, in bytes: 48 MB of them in base64. Its texts must fit `embeddingsBodyBytes`. Never more than `bodyBytes`.',
  ),
  contentPartBytes: amount(defaultLimits.contentPartBytes).describe(
    'Largest image, audio, video or PDF to embed, in bytes. More than providers take in a call.',
  ),
  maxContentSeconds: amount(defaultLimits.maxContentSeconds).describe(
    'Longest audio or video to embed, in seconds, where its header gives its length. Models take minutes.',
  ),
  maxContentPages: amount(defaultLimits.maxContentPages).describe(
    'Most pages of a PDF to embed, where Torana can count them. To models each page is an image.',
  ),
  answerBytes: amount(defaultLimits.answerBytes).describe(
    'Largest upstream answer in bytes. 2,048 vectors of 4,096 dimensions are 180 MB.',
  ),
  connectTimeoutMs: duration(defaultLimits.connectTimeoutMs).describe(
    'Longest time to connect to an upstream (TCP and TLS).',
  ),
  attemptTimeoutMs: duration(defaultLimits.attemptTimeoutMs).describe(
    'Longest single upstream call for embeddings.',
  ),
  requestTimeoutMs: duration(defaultLimits.requestTimeoutMs).describe(
    "Longest embeddings request, with retries. Shorter than the SDKs' own timeouts, so that callers see Torana's error.",
  ),
  headersTimeoutMs: duration(defaultLimits.headersTimeoutMs).describe(
    'Longest time for a client to send its headers.',
  ),
  maxConnections: amount(defaultLimits.maxConnections).describe(
    'Most connections of clients to this node. Further ones are closed at once; each takes up to 128 KB of memory while a body begins to arrive.',
  ),
  controlConnections: amount(defaultLimits.controlConnections).describe(
    'Most connections to the control port of this node. A console takes about six. Further ones are closed at once.',
  ),
  queueWaitMs: duration(defaultLimits.queueWaitMs).describe(
    'Longest wait in the queue for a deployment, and for a place among the image jobs of this node.',
  ),
  maxQueued: amount(defaultLimits.maxQueued).describe(
    'Most requests in the queue for the same deployments of a model.',
  ),
  overloadBrake: z
    .boolean()
    .default(defaultLimits.overloadBrake)
    .describe(
      'Load shedding: whether the node refuses requests before reading them, with 503 and `retry-after`, while it has no CPU time left. Default `true`.',
    ),
  cacheBytes: amount(defaultLimits.cacheBytes).describe(
    'Memory of the vector cache in this process: about forty thousand vectors of 1,536 dimensions.',
  ),
  maxAttempts: amount(defaultLimits.maxAttempts).describe(
    'Most deployments that Torana tries for one part of a request.',
  ),
  maxImages: amount(defaultLimits.maxImages).describe("Largest `n`. OpenAI's own limit."),
  imagesBodyBytes: amount(defaultLimits.imagesBodyBytes).describe(
    'Largest image request in bytes: a prompt of 32,000 escaped characters, and the options.',
  ),
  imageTimeoutMs: duration(defaultLimits.imageTimeoutMs).describe(
    'Longest image request. The slowest models take minutes; the SDKs wait ten minutes.',
  ),
  maxImageJobs: amount(defaultLimits.maxImageJobs).describe(
    'Most concurrent image jobs of this node. Each needs about ten megabytes of memory. A project gets at most seven eighths, and less when others need them; a request without a place waits up to `queueWaitMs`.',
  ),
  assetRetentionMs: keeping(defaultLimits.assetRetentionMs).describe(
    'How long images are kept, and can be fetched with a key of their project.',
  ),
  assetLinkMs: keeping(defaultLimits.assetLinkMs).describe('How long a signed link to an image is valid.'),
  maxEditPictures: amount(defaultLimits.maxEditPictures).describe(
    "Most input images of one edit. OpenAI's own limit.",
  ),
  editFileBytes: amount(defaultLimits.editFileBytes).describe(
    "Largest input image, mask or markup of an edit in bytes. OpenAI's own limit.",
  ),
  editsBodyBytes: amount(defaultLimits.editsBodyBytes).describe(
    'Largest edit as a form, in bytes. Its files go to disk, not to memory; raise it for 16 input images of 50 MB.',
  ),
  editsJsonBytes: amount(defaultLimits.editsJsonBytes).describe(
    'Largest edit as JSON, in bytes. It is completely in memory; base64 makes files a third larger.',
  ),
  maxPicturePixels: amount(defaultLimits.maxPicturePixels).describe(
    'Most pixels of an input image, also of one to embed. Decoders need four bytes per pixel.',
  ),
  maxPictureEdge: amount(defaultLimits.maxPictureEdge).describe('Longest edge of an input image in pixels.'),
  bodyBytes: amount(defaultLimits.bodyBytes).describe(
    'Most bytes of JSON bodies in memory, of all requests. A project gets at most three quarters, and less when others need it; a body without room waits up to `uploadIdleMs`.',
  ),
  uploadIdleMs: duration(defaultLimits.uploadIdleMs).describe(
    'Torana gives up a request body without progress after this time, and from then on one slower than 1 KB per second on average.',
  ),
  downloadIdleMs: duration(defaultLimits.downloadIdleMs).describe(
    'Torana closes the connection of a client that reads nothing of its answer for this time.',
  ),
  drainMs: duration(defaultLimits.drainMs).describe(
    'Longest time from `SIGTERM` to the end of the process: running requests and image jobs may finish until then. The orchestrator must wait at least five seconds longer before it kills the process.',
  ),
  stopDelayMs: z
    .int()
    .min(0)
    .max(3_600_000)
    .default(defaultLimits.stopDelayMs)
    .describe(
      'How long the node still accepts connections after `SIGTERM`, while `/readyz` already answers 503, so that load balancers notice first. While requests still come, at most twice as long. If nothing asked `/readyz` in the last five minutes, the node refuses new connections at once and leaves open ones this time to be used once more or closed by their clients. Part of `drainMs`. Skipped on Ctrl-C.',
    ),
  uploadBytes: amount(defaultLimits.uploadBytes).describe(
    "Most bytes of files of running edits, and of media to embed, on this node's disk.",
  ),
  bufferedEditBytes: amount(defaultLimits.bufferedEditBytes).describe(
    'Most bytes of files of one edit for an upstream that cannot stream from disk, such as those of the AI SDK.',
  ),
  bufferedBytes: amount(defaultLimits.bufferedBytes).describe(
    'Most bytes of such files of all requests in memory, and of input images and media that Torana fetches. A project gets at most three quarters, and less when others need it.',
  ),
  fileBytes: amount(defaultLimits.fileBytes).describe("Largest file in bytes. OpenAI's own limit."),
  uploadFileBytes: amount(defaultLimits.uploadFileBytes).describe(
    "Largest file that arrives in parts, in bytes. OpenAI's own limit.",
  ),
  maxFiles: amount(defaultLimits.maxFiles).describe(
    'Most files that one project keeps. Files that batches make are not counted.',
  ),
  filesBytes: amount(defaultLimits.filesBytes).describe(
    'Most bytes that one project keeps: its files, uploads in progress by the size they announced, and the results of batches. Beyond it, files are refused with `too_many_files`, and batches pause, until files are deleted or expire.',
  ),
  diskReserveBytes: z
    .int()
    .min(0)
    .default(defaultLimits.diskReserveBytes)
    .describe(
      'Free bytes that files, uploads and new work leave on the disks of this node. Below it, they are refused with `disk_full`, and batches pause; results that are paid for may use half of it. The rest is for the ledger: an hour of its spool on a busy node. `0` turns the check off.',
    ),
  fetchImageUrls: z
    .boolean()
    .default(defaultLimits.fetchImageUrls)
    .describe(
      'Whether Torana fetches input images, and media to embed, that a caller names by address. `false`: only upstreams that fetch addresses themselves get them.',
    ),
})

export const limits = fields.check(({ value, issues }) => {
  for (const [part, whole] of WITHIN) {
    if (value[part] <= value[whole]) continue
    const message = `must not be below ${part}, which is ${value[part]}`
    issues.push({ code: 'custom', input: value[whole], path: [whole], message })
  }
})
