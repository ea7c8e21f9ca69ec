/** `limits` of torana.yaml: each with its reason. */
import { z } from 'zod'
import { defaultLimits } from '#core/settings.ts'

// Nobody waits an hour for an embedding, and timers overflow at 24 days.
const duration = (defaultMs: number) => z.int().min(1).max(3_600_000).default(defaultMs)
// A year: what is to be kept longer belongs into a store of the caller's own.
const keeping = (defaultMs: number) => z.int().min(1).max(31_536_000_000).default(defaultMs)
const amount = (defaultAmount: number) => z.int().min(1).default(defaultAmount)

/** Each of the first is taken out of the second, so that a request which is allowed always has room. */
const WITHIN = [
  ['editsJsonBytes', 'bufferedBytes'],
  ['bufferedEditBytes', 'bufferedBytes'],
  ['editsBodyBytes', 'uploadBytes'],
] as const

const fields = z.strictObject({
  maxInputs: amount(defaultLimits.maxInputs).describe(
    "Most inputs of one request: OpenAI's own bound; clients chunk by it.",
  ),
  embeddingsBodyBytes: amount(defaultLimits.embeddingsBodyBytes).describe(
    'Largest embeddings request: 2,048 inputs of 4 KB. More text would hold memory for minutes of upstream work.',
  ),
  answerBytes: amount(defaultLimits.answerBytes).describe(
    'Largest upstream answer: 2,048 vectors of 4,096 widened numbers are 180 MB; beyond this it is a fault.',
  ),
  connectTimeoutMs: duration(defaultLimits.connectTimeoutMs).describe(
    'Longest TCP and TLS handshake with an upstream.',
  ),
  attemptTimeoutMs: duration(defaultLimits.attemptTimeoutMs).describe(
    'Longest single upstream call. Embeddings answer in seconds; slower than this is a hang.',
  ),
  requestTimeoutMs: duration(defaultLimits.requestTimeoutMs).describe(
    "Longest whole request, retries included: below the SDKs' own time-outs, so that they see our error.",
  ),
  headersTimeoutMs: duration(defaultLimits.headersTimeoutMs).describe(
    'Longest time a caller may take to send its headers.',
  ),
  queueWaitMs: duration(defaultLimits.queueWaitMs).describe(
    'Longest wait in line for a deployment with room: who is refused can go elsewhere.',
  ),
  maxQueued: amount(defaultLimits.maxQueued).describe(
    'Requests in line for the same deployments of a model: each is held in memory.',
  ),
  overloadBrake: z
    .boolean()
    .default(defaultLimits.overloadBrake)
    .describe(
      'Whether requests are refused unread, with 503 and `retry-after`, while this process has no time left. Default `true`.',
    ),
  cacheBytes: amount(defaultLimits.cacheBytes).describe(
    'Vectors kept in this process: some forty thousand of 1,536 values.',
  ),
  maxAttempts: amount(defaultLimits.maxAttempts).describe('Deployments tried for one batch.'),
  maxImages: amount(defaultLimits.maxImages).describe(
    "Most pictures of one request: OpenAI's own bound on `n`.",
  ),
  imagesBodyBytes: amount(defaultLimits.imagesBodyBytes).describe(
    'Largest image request: a prompt of 32,000 characters with every one of them escaped, and its options.',
  ),
  imageTimeoutMs: duration(defaultLimits.imageTimeoutMs).describe(
    'Longest image request. The slowest models take minutes; the SDKs wait ten.',
  ),
  maxImageJobs: amount(defaultLimits.maxImageJobs).describe(
    'Image jobs at a time: each holds its pictures in memory while they arrive, some ten megabytes.',
  ),
  assetRetentionMs: keeping(defaultLimits.assetRetentionMs).describe(
    'How long pictures are kept, and may be fetched by a key of their project.',
  ),
  assetLinkMs: keeping(defaultLimits.assetLinkMs).describe('How long a signed link to a picture is valid.'),
  maxEditPictures: amount(defaultLimits.maxEditPictures).describe(
    "Most pictures of one edit: OpenAI's own bound.",
  ),
  editFileBytes: amount(defaultLimits.editFileBytes).describe(
    "Largest single picture, mask or markup of an edit: OpenAI's own bound.",
  ),
  editsBodyBytes: amount(defaultLimits.editsBodyBytes).describe(
    'Largest multipart edit. Its files go to disk, not to memory: 16 pictures of 50 MB work when this is raised.',
  ),
  editsJsonBytes: amount(defaultLimits.editsJsonBytes).describe(
    'Largest edit as JSON, which is held in memory whole: its pictures, a third larger in base64.',
  ),
  maxPicturePixels: amount(defaultLimits.maxPicturePixels).describe(
    'Most pixels of a given picture: decoders need four bytes for each, and upstreams take fewer.',
  ),
  maxPictureEdge: amount(defaultLimits.maxPictureEdge).describe(
    'Longest edge of a given picture in pixels: where decoders begin to give up.',
  ),
  uploadIdleMs: duration(defaultLimits.uploadIdleMs).describe(
    'An upload that stands still so long is given up: its sender is gone, or wants to hold a connection.',
  ),
  uploadBytes: amount(defaultLimits.uploadBytes).describe(
    "Files of all requests on this node's disk: more than all its image jobs should ever hold.",
  ),
  bufferedEditBytes: amount(defaultLimits.bufferedEditBytes).describe(
    "Files of one edit towards an upstream whose wire can't be fed from disk, such as those of the AI SDK.",
  ),
  bufferedBytes: amount(defaultLimits.bufferedBytes).describe(
    'Such files of all requests that are in memory at once, JSON bodies of edits included.',
  ),
  fetchImageUrls: z
    .boolean()
    .default(defaultLimits.fetchImageUrls)
    .describe(
      'Whether pictures that a caller names by address are fetched. Off: only upstreams that fetch themselves get the address.',
    ),
})

export const limits = fields.check(({ value, issues }) => {
  for (const [part, whole] of WITHIN) {
    if (value[part] <= value[whole]) continue
    const message = `must not be below ${part}, which is ${value[part]}`
    issues.push({ code: 'custom', input: value[whole], path: [whole], message })
  }
})
