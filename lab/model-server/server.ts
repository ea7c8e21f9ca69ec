import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openaiBody, openaiError, openaiQuestion } from '../fake-provider/openai-wire.ts'
import { base64Of, numberText } from '../fake-provider/vectors.ts'
import { isFields, Refusal, requiredString, type Question } from '../fake-provider/wire.ts'
import { defaultWords, measureCeiling, wordsOf, type CeilingRow } from './ceiling.ts'
import { ModelStopped, QueueFull, SentenceModel, type ModelCounters } from './model.ts'

export const modelId = 'demo-embed'
export const modelWidth = 512

/** The tokenizer copies the rest of the text at every character: 8,000 of them take 0.15 s, ten times more 15 s. */
const maxCharacters = 8000

/** OpenAI's number, and what fits into the model's queue. */
const maxInputs = 2048

/** `maxInputs` texts of `maxCharacters`, were all ASCII. */
const maxRequestBytes = 16 * 1024 * 1024

export type ModelServer = { url: string; port: number; counters(): ModelCounters; close(): Promise<void> }

export type Ceiling = { model: string; words: number; ceiling: CeilingRow[] }

export async function startModelServer({
  port = 0,
  host = '127.0.0.1',
}: { port?: number; host?: string } = {}): Promise<ModelServer> {
  const model = await SentenceModel.load()

  async function answerTo(request: IncomingMessage): Promise<string> {
    const url = new URL(request.url ?? '/', 'http://model-server')
    const route = `${request.method} ${url.pathname}`
    if (route === 'GET /v1/models') return JSON.stringify({ object: 'list', data: [modelCard] })
    if (route === `GET /v1/models/${modelId}`) return JSON.stringify(modelCard)
    if (route === 'GET /counters') return JSON.stringify(model.counters())
    if (route === 'GET /ceiling')
      return JSON.stringify(
        await ceilingOf(model, wordsOf(url.searchParams.get('words') ?? String(defaultWords))),
      )
    if (route !== 'POST /v1/embeddings') throw new Refusal(404, `Unknown request URL: ${route}.`)
    return embeddings(model, await questionIn(request))
  }

  const server = createServer((request, response) => {
    answerTo(request).then(
      (body) => send(response, 200, body),
      (error: unknown) => sendRefusal(response, refusalOf(error)),
    )
  })
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address() as AddressInfo

  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    counters: () => model.counters(),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
      await model.close()
    },
  }
}

export async function ceilingOf(model: SentenceModel, words: number): Promise<Ceiling> {
  return { model: modelId, words, ceiling: await measureCeiling(model, words) }
}

const modelCard = { id: modelId, object: 'model', created: 1_700_000_000, owned_by: 'torana' }

async function questionIn(request: IncomingMessage): Promise<Question> {
  const fields = await fieldsIn(request)
  const question = await openaiQuestion(fields, requiredString(fields, 'model'))
  const { model, texts, tokenArrays, dimensions } = question
  if (model !== modelId) {
    throw new Refusal(404, `The model '${model}' does not exist.`, { code: 'model_not_found' })
  }
  if (tokenArrays) throw new Refusal(400, 'This model has a tokenizer of its own: send text, not tokens.')
  if (dimensions !== null && dimensions !== modelWidth) {
    throw new Refusal(400, `This model has ${modelWidth} dimensions and cannot be cut.`)
  }
  if (texts.length > maxInputs) throw new Refusal(400, `At most ${maxInputs} inputs are allowed.`)
  const longest = Math.max(...texts.map((text) => text.length))
  if (longest > maxCharacters) {
    throw new Refusal(400, `An input has ${longest} characters, at most ${maxCharacters} are allowed.`, {
      code: 'context_length_exceeded',
    })
  }
  return question
}

async function embeddings(model: SentenceModel, question: Question): Promise<string> {
  const { vectors, tokens } = await model.embed(question.texts)
  return openaiBody({
    question,
    items: vectors.map((vector, index) => ({ index, vector, tokens: tokens[index] ?? 0 })),
    encoding: question.encoding ?? 'float',
    usage: tokens.reduce((sum, count) => sum + count, 0),
    extraFields: false,
    text: (vector, encoding) => (encoding === 'base64' ? `"${base64Of(vector)}"` : numberText(vector)),
  })
}

async function fieldsIn(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxRequestBytes) throw new Refusal(413, `The body exceeds ${maxRequestBytes} bytes.`)
    chunks.push(chunk)
  }
  let fields: unknown
  try {
    fields = JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw new Refusal(400, 'We could not parse the JSON body of your request.')
  }
  if (!isFields(fields)) throw new Refusal(400, 'The body must be a JSON object.')
  return fields
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof QueueFull) return new Refusal(429, error.message, { headers: { 'retry-after': '1' } })
  if (error instanceof ModelStopped) return new Refusal(503, error.message)
  console.error('model-server:', error)
  return new Refusal(500, 'The model failed.')
}

function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  send(response, refusal.status, openaiError(refusal), refusal.headers)
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}
