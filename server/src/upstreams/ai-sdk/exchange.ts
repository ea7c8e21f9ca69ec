/** One embeddings call through a provider package: translate, ask once, check every vector. */
import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import { ownHeaders } from './own-headers.ts'
import { modelIn } from '#core/embedding/answer.ts'
import { faultInType } from '#core/embedding/vector.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { Usage } from '#core/money/usage.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { requestIdIn } from '../openai/failures.ts'
import { failureOf } from './failures.ts'
import type { Fetch, Model, Provider } from './providers.ts'
import { providers } from './providers.ts'

export interface Block {
  /** All vectors in input order, end to end. */
  readonly values: Float32Array<ArrayBuffer>
  /** Width of each vector. */
  readonly width: number
  readonly usage: Usage
  /** As the upstream names it. Undefined: it does not. */
  readonly model: string | undefined
}

type Result = Awaited<ReturnType<Model['doEmbed']>>
type Options = SharedV4ProviderOptions[string]

/** Cached models. A catalog has tens of deployments; more than this are left over from reloads. */
const MAX_MODELS = 512

export function aiSdkExchange(fetch: Fetch): (call: EmbeddingCall) => Promise<Block> {
  const models = new Map<string, Model>()
  // A provider's keys in headers would follow a redirect to any address.
  const fetchHere: Fetch = (input, init) => fetch(input, { ...init, redirect: 'manual' })

  async function modelFor(call: EmbeddingCall, provider: Provider): Promise<Model> {
    const { upstream, upstreamModel } = call.deployment
    // By value: a catalog that was reloaded with a new credential must get a new model.
    const key = JSON.stringify([upstream, upstreamModel, call.inputTypeField])
    const kept = models.get(key)
    if (kept) return kept
    const made = await provider.model(call, fetchHere)
    if (models.size >= MAX_MODELS) models.clear()
    models.set(key, made)
    return made
  }

  return async (call) => {
    const provider = providerOf(call)
    const values = textsOf(call)
    const options = optionsOf(call, provider)
    let result: Result
    try {
      const model = await modelFor(call, provider)
      result = await model.doEmbed({
        values: [...values],
        providerOptions: options,
        headers: ownHeaders(call),
        // Rounded up: timers take whole milliseconds.
        abortSignal: AbortSignal.timeout(Math.ceil(call.timeoutMs)),
      })
    } catch (error) {
      throw failureOf(error, call, provider, { answer: 'vectors of numbers', asked: askedBy(call) })
    }
    return checked(result, call, provider, values.length)
  }
}

function providerOf({ deployment }: EmbeddingCall): Provider {
  const { provider = '', name } = deployment.upstream
  const known = Object.hasOwn(providers, provider) ? providers[provider] : undefined
  if (known) return known
  const names = Object.keys(providers).join(', ')
  const message = `upstreams.${name}.provider is ${JSON.stringify(provider)}; the ai-sdk dialect speaks to ${names}`
  throw new UpstreamFailure('rejectedUs', message, { deployment: deployment.id })
}

function textsOf(call: EmbeddingCall): readonly string[] {
  if (call.inputs.kind === 'tokens') throw refusal(call, 'token ids can not be sent on this wire', 'input')
  if (call.inputs.kind === 'contents') throw refusal(call, 'only texts can be sent on this wire', 'input')
  return call.inputs.texts
}

function optionsOf(call: EmbeddingCall, provider: Provider): SharedV4ProviderOptions {
  const [extra] = Object.keys(call.extraFields)
  if (extra !== undefined) throw refusal(call, `'${extra}' can not be sent on this wire`, extra)
  if (call.user !== undefined) throw refusal(call, `'user' can not be sent on this wire`, 'user')

  const names = provider.names(call)
  const options: Options = { ...names.always }
  const dimensions = names.neverLeftOut?.includes('dimensions') ? call.width : call.dimensions
  if (dimensions !== undefined) {
    if (names.dimensions === undefined)
      throw refusal(call, 'no width can be asked for on this wire', 'dimensions')
    options[names.dimensions] = dimensions
  }
  if (call.inputType !== undefined) {
    if (names.inputType === undefined)
      throw refusal(call, 'no input type can be named on this wire', 'input_type')
    options[names.inputType] = call.inputType
  } else if (names.neverLeftOut?.includes('inputType')) {
    const message = `this wire needs an input type: name one, or give the model a default for '${names.inputType}'`
    throw refusal(call, message, 'input_type')
  }
  if (call.outputType !== undefined) {
    if (names.outputType === undefined)
      throw refusal(call, 'no type of vectors can be asked for on this wire', 'output_dtype')
    options[names.outputType] = call.outputType
  }
  return { [names.key]: options }
}

function checked(result: Result, call: EmbeddingCall, provider: Provider, count: number): Block {
  for (const warning of result.warnings) {
    if (warning.type === 'unsupported')
      // The package sent the rest of the request and had an answer: it may have been charged.
      throw refusal(call, `'${warning.feature}' is not supported`, undefined, 'unknown')
  }

  const { embeddings, response } = result
  const { deployment } = call
  const width = embeddings[0]?.length === call.fullWidth ? (call.fullWidth ?? call.width) : call.width
  const broken = (message: string, wrongWidth?: number): UpstreamFailure =>
    new UpstreamFailure('broken', message, {
      deployment: deployment.id,
      upstreamRequestId: requestIdIn(response?.headers ?? {}),
      wrongWidth,
      isLasting: wrongWidth !== undefined,
    })

  if (embeddings.length !== count) throw broken(`${embeddings.length} vectors for ${count} inputs`)
  const indexes = provider.indexes?.(response?.body) ?? []
  const values = new Float32Array(count * width)
  const filled = new Set<number>()
  for (const [position, embedding] of embeddings.entries()) {
    // Servers that give no index at all answer in order.
    const index = indexes[position] ?? position
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) {
      throw broken(`index ${JSON.stringify(index)} for ${count} inputs`)
    }
    if (filled.has(index)) throw broken(`index ${index} twice`)
    filled.add(index)
    const vector = Float32Array.from(embedding)
    const fault = faultInType(vector, width, call.outputType)
    if (fault !== undefined) throw broken(fault.reason, fault.wrongWidth)
    values.set(vector, index * width)
  }
  return { values, width, usage: usageOf(result.usage?.tokens), model: modelIn(response?.body) }
}

/** Packages turn a count that is missing into NaN or 0: unknown, not free. */
function usageOf(tokens: number | undefined): Usage {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens > 0
    ? { kind: 'measured', tokens }
    : { kind: 'unknown' }
}

function refusal(
  call: EmbeddingCall,
  message: string,
  param: string | undefined,
  charge: 'none' | 'unknown' = 'none',
): UpstreamFailure {
  return new UpstreamFailure('refused', message, { deployment: call.deployment.id, param, charge })
}

function askedBy({ dimensions, inputType }: EmbeddingCall): string {
  const asked = [
    ...(dimensions === undefined ? [] : [`dimensions ${dimensions}`]),
    ...(inputType === undefined ? [] : [`input type ${inputType}`]),
  ]
  return asked.length === 0 ? '' : ` (${asked.join(', ')})`
}
