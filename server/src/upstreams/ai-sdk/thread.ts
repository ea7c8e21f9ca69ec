/** The client of the thread that makes calls through the AI SDK. */
import { UpstreamFailure } from '#core/fault/failure.ts'
import { workerModule } from '#package/files.ts'
import type { ImageAnswer } from '#ports/image-upstream.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { inTime, Thread, type ThreadLimits } from '#thread/thread.ts'
import type { Block } from './exchange.ts'
import { timedOut } from './failures.ts'
import type { LoadedCall } from './image-edit.ts'
import { buffersOf } from './image-edit.ts'
import type { AiSdkWorks, Outcome, WorkerOptions } from './worker.ts'

export interface AiSdkThread {
  embed(call: EmbeddingCall): Promise<Block>
  /** Takes ownership of the images to be edited: nothing else can read them afterwards. */
  generate(call: LoadedCall, submitted: (text: string) => Promise<void>): Promise<ImageAnswer>
}

/**
 * The thread's whole environment. The packages would read keys, regions and even addresses from it; only
 * Google's auth library, which brings its own credentials and connections, may look these up.
 */
const ENVIRONMENT = [
  'GOOGLE_APPLICATION_CREDENTIALS',
  'CLOUDSDK_CONFIG',
  'GCE_METADATA_HOST',
  'HOME',
  'APPDATA',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
]

/** Memory of the packages themselves, and some hundred calls in progress. */
const BASE_MEMORY_MB = 512
/** The largest answer as text, as values, and as the values that the package's schema made of them. */
const MEMORY_PER_ANSWER_BYTE = 6

/** A call waits for its upstream for minutes, and both sides end it in time: no question is too long by itself. */
function limitsFor({ answerBytes }: WorkerOptions): ThreadLimits {
  const answerMb = (answerBytes / 1024 ** 2) * MEMORY_PER_ANSWER_BYTE
  return { memoryMb: BASE_MEMORY_MB + Math.ceil(answerMb), maxTaskMs: Infinity }
}

export function aiSdkThread(options: WorkerOptions): AiSdkThread {
  const env = Object.fromEntries(
    ENVIRONMENT.map((name) => [name, process.env[name]]).filter(([, value]) => value),
  )
  const thread = new Thread<AiSdkWorks>(workerModule('upstreams/ai-sdk/worker'), limitsFor(options), {
    env,
    workerData: options,
  })
  return {
    embed: (call) => answerTo(call, thread.ask('embed', call)),
    generate: (call, submitted) =>
      answerTo(call, thread.ask('generate', call, { transfer: buffersOf(call.edit), hear: submitted })),
  }
}

/** The thread gives up at the same time, unless it is busy with another answer or still waits for a token. */
async function answerTo<Answer>(
  call: EmbeddingCall | LoadedCall,
  asked: Promise<Outcome<Answer>>,
): Promise<Answer> {
  const outcome = await inTime(asked, call.timeoutMs, () => timedOut(call))
  if ('answer' in outcome) return outcome.answer
  const { kind, message, detail, reason } = outcome.failure
  throw new UpstreamFailure(kind, message, detail, reason)
}
