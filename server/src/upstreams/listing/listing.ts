/** Asks an upstream for its list of models. The credential goes to the upstream's own address only. */
import type { Upstream } from '#core/catalog/catalog.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { ListedModels, ModelListing } from '#ports/model-listing.ts'
import type { HttpAnswer, UpstreamHttp } from '../connect/http.ts'
import { openaiTarget } from '../openai/embedding.ts'
import { failureOfAnswer, failureOfError } from '../openai/failures.ts'
import { endsOf } from './listed.ts'
import { questionsFor, type Question } from './questions.ts'

/** A person waits for the list. */
const TIMEOUT_MS = 10_000
/** The longest lists have a few hundred models, each with a page of facts. */
const ANSWER_BYTES = 4 * 1024 * 1024
/** Models read: more than any list has. */
const MAX_MODELS = 2000
/** Ids that are valid model ids here too. */
const MODEL_ID = /^[\x21-\x7e]{1,200}$/

export class HttpModelListing implements ModelListing {
  readonly #http: Pick<UpstreamHttp, 'get'>

  constructor(http: Pick<UpstreamHttp, 'get'>) {
    this.#http = http
  }

  async list(upstream: Upstream): Promise<ListedModels> {
    const questions = questionsFor(upstream)
    if (questions === undefined) return { kind: 'unlisted' }
    let failure: UpstreamFailure | undefined
    for (const question of questions) {
      try {
        const items = question.itemsIn(await this.#ask(upstream, question))
        const sound = items.filter(({ id }) => MODEL_ID.test(id)).slice(0, MAX_MODELS)
        if (question.isCatalogue === true) return { kind: 'unlisted' }
        return { kind: 'listed', ids: [...new Set(sound.map(({ id }) => id))], ...endsOf(sound) }
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
        failure ??= error
        // Only a missing path may mean that another kind of server answers.
        if (error.kind !== 'missing') throw error
      }
    }
    throw failure as UpstreamFailure
  }

  async #ask(upstream: Upstream, { path, credential, at }: Question): Promise<unknown> {
    const target = openaiTarget({
      ...upstream,
      baseUrl: at ?? upstream.baseUrl,
      apiKey: credential === 'bearer' ? upstream.apiKey : undefined,
    })
    const headers = [...target.headers]
    if (credential !== 'bearer' && upstream.apiKey !== undefined) headers.push(credential, upstream.apiKey)
    const called = { id: upstream.name, upstream }
    const chunks: Uint8Array[] = []
    let answer: HttpAnswer
    try {
      answer = await this.#http.get(
        {
          origin: target.origin,
          tls: target.tls,
          path: path.startsWith('/') ? path : `${target.basePath}/${path}`,
          headers,
          timeoutMs: TIMEOUT_MS,
          answerBytes: ANSWER_BYTES,
        },
        { push: (chunk) => void chunks.push(Uint8Array.from(chunk)) },
      )
    } catch (error) {
      throw failureOfError(error, { deployment: upstream.name, charge: 'none' })
    }
    if (answer.status < 200 || answer.status > 299) throw failureOfAnswer(answer, called)
    try {
      return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown
    } catch {
      throw new UpstreamFailure('broken', 'the list of models is not JSON', {
        deployment: upstream.name,
        status: answer.status,
      })
    }
  }
}
