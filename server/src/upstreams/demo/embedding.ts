/** The upstream of a first start: a real model in a thread of this process, so that it never blocks requests. */
import { DEMO_MAX_TOKENS } from '#core/catalog/demo.ts'
import { faultIn } from '#core/embedding/vector.ts'
import { UpstreamFailure, type FailureKind } from '#core/fault/failure.ts'
import { workerModule } from '#package/files.ts'
import type { EmbeddingAnswer, EmbeddingCall, EmbeddingUpstream } from '#ports/upstream.ts'
import { ThreadBusy } from '#ports/asker.ts'
import { Thread, type ThreadLimits } from '#thread/thread.ts'
import { Turns } from '#thread/turns.ts'
import type { DemoWorks } from './model-worker.ts'

/**
 * Texts of one turn at the thread: half a second of work, then another project has its turn. A larger turn is
 * no quicker per text.
 */
const TEXTS_A_TURN = 8
/**
 * Texts of one turn, times the characters of the longest: the model takes as long for each as for the
 * longest. A turn can't be aborted, so this also bounds how long a caller that has left keeps others waiting.
 */
const CHARACTERS_A_TURN = 8192
/** Longest text that is tokenized: tokenizing takes time by the square of the characters. */
const MAX_CHARACTERS = 8192
/** Waiting turns of one project: two minutes of work. More would only time out. */
const MAX_WAITING = 256
/**
 * The model takes a hundred megabytes, a request's texts and vectors some more. Two thousand texts on a slow
 * core take minutes. The model unloads after a minute without use, since a node with other models need not
 * keep it in memory; loading it takes half a second.
 */
const LIMITS: ThreadLimits = { memoryMb: 512, maxTaskMs: 600_000, idleMs: () => 60_000 }

export class DemoEmbedding implements EmbeddingUpstream {
  readonly #thread = new Thread<DemoWorks>(workerModule('upstreams/demo/model-worker'), LIMITS)
  readonly #turns = new Turns({ atOnce: 1, maxWaiting: MAX_WAITING })

  /** Whether the model is not in memory. */
  get isAsleep(): boolean {
    return this.#thread.isAsleep
  }

  async embed({ inputs, deployment, project, width, timeoutMs }: EmbeddingCall): Promise<EmbeddingAnswer> {
    const texts = inputs.kind === 'texts' ? inputs.texts : []
    // Work of this process is never charged, however it ended.
    const failureOf = (kind: FailureKind, message: string, retryAfterMs?: number): UpstreamFailure =>
      new UpstreamFailure(kind, message, { deployment: deployment.id, retryAfterMs, charge: 'none' })
    const tooLong = (tooLongInput: number, length: string): UpstreamFailure =>
      new UpstreamFailure(
        'refused',
        `has ${length}; the demo model reads at most ${DEMO_MAX_TOKENS} tokens and ${MAX_CHARACTERS} characters. Split the text.`,
        { deployment: deployment.id, charge: 'none', tooLongInput },
      )
    const long = texts.findIndex((text) => charactersOf(text) > MAX_CHARACTERS)
    if (long >= 0) throw tooLong(long, `${charactersOf(texts[long] as string)} characters`)
    let tokens = 0
    let isOver = false
    const work = async (some: readonly string[], begin: number): Promise<readonly Float32Array[]> => {
      if (isOver) return []
      const made = await this.#thread.ask('embed', some)
      if ('tooMany' in made) throw tooLong(begin + made.at, `${made.tooMany} tokens`)
      tokens += made.tokens
      return made.vectors
    }
    let vectors: readonly Float32Array[]
    try {
      const asker = { project, timeoutMs }
      // All turns queue at the start: of two calls of a project, the first is done first, and not both too late.
      let begin = 0
      const made = inTurns(texts).map((some) => {
        const at = begin
        begin += some.length
        return this.#turns.run(asker, () => work(some, at))
      })
      vectors = (await Promise.all(made)).flat()
    } catch (error) {
      isOver = true
      if (error instanceof UpstreamFailure) throw error
      if (!(error instanceof ThreadBusy)) throw failureOf('failed', reasonOf(error as NodeJS.ErrnoException))
      throw error.kind === 'full'
        ? failureOf('rateLimited', 'the demo model has too much to do', 1000)
        : failureOf('timedOut', `the demo model took longer than ${timeoutMs} ms`)
    }
    const fault = vectors.map((values) => faultIn(values, width)).find((found) => found !== undefined)
    if (fault !== undefined) throw failureOf('broken', fault.reason)
    return {
      vectors: vectors.map((values) => ({ form: 'float32', values })),
      usage: { kind: 'measured', tokens },
      extraFields: {},
    }
  }

  close(): Promise<void> {
    this.#turns.close()
    return this.#thread.close()
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return code === 'ERR_MODULE_NOT_FOUND' ? 'this image has no demo model inside: use the full one' : message
}

/** Characters as the model's tokenizer sees them: it expands some. A text that has too many anyway is left as it is. */
function charactersOf(text: string): number {
  return text.length > MAX_CHARACTERS ? text.length : text.normalize('NFKC').length
}

function inTurns(texts: readonly string[]): readonly (readonly string[])[] {
  const turns: string[][] = []
  let longest = 0
  for (const text of texts) {
    const turn = turns.at(-1)
    longest = Math.max(longest, text.length)
    const size = (turn?.length ?? 0) + 1
    if (turn !== undefined && size <= TEXTS_A_TURN && size * longest <= CHARACTERS_A_TURN) turn.push(text)
    else {
      turns.push([text])
      longest = text.length
    }
  }
  return turns
}
