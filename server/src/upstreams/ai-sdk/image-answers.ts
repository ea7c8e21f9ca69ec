/** What the bodies of image answers say that the packages do not pass on: refusals inside a 200, states of a job, tokens. */
import { isRecord } from '#core/text/record.ts'
import type { FailureKind } from '#core/fault/failure.ts'
import type { ImageUsage } from '#core/money/usage.ts'

/** What one body says of the call. */
export type Reading =
  /** `body`: what the package gets in place of the received body. */
  | { readonly state: 'ready'; readonly body?: unknown }
  | { readonly state: 'pending'; readonly body?: unknown }
  | {
      readonly state: 'ended'
      readonly kind: FailureKind
      readonly reason: string
      readonly charge: 'none' | 'unknown'
    }

const READY: Reading = { state: 'ready' }
const PENDING: Reading = { state: 'pending' }

/** Any other state is an end: an unexpected word must not be waited out. */
const WAITING = /^(pending|queued|starting|processing|in[ _-]?progress|dreaming|running|task queued)$/i
const MODERATED = /moderat|nsfw|sensitive|safety|content (policy|filter)|blocked/i

/** Black Forest Labs, and Fireworks, which passes its models on. The answer to the submit has no status yet. */
export function readFlux(body: unknown): Reading {
  const status = textIn(body, 'status') ?? textIn(body, 'state')
  if (status === undefined) {
    const wasTaken = textIn(body, 'polling_url') !== undefined || textIn(body, 'request_id') !== undefined
    return wasTaken ? PENDING : broken('an answer that names no job')
  }
  if (status === 'Ready') {
    const sample = textIn(record(body)['result'], 'sample')
    return sample === undefined ? broken('a job that is ready and has no picture') : READY
  }
  if (WAITING.test(status)) return PENDING
  if (/moderated/i.test(status)) return refused(`${status}.`, 'none')
  if (status === 'Error' || status === 'Failed') return failed(status)
  return broken(`a job that ended as ${quoted(status)}`)
}

/** A running prediction may show its first images, which its package would take for all. */
export function readReplicate(body: unknown): Reading {
  const status = textIn(body, 'status')
  if (status === undefined) return broken('a prediction without a status')
  if (status === 'succeeded') {
    const { output } = record(body)
    return output === undefined || output === null ? broken('a prediction without output') : READY
  }
  if (WAITING.test(status)) return { state: 'pending', body: { ...record(body), output: null } }
  const reason = textIn(body, 'error') ?? status
  if (MODERATED.test(reason) || /\(E005\)/.test(reason)) return refused(reason, 'none')
  return failed(reason)
}

export function readLuma(body: unknown): Reading {
  const state = textIn(body, 'state')
  if (state === undefined) return broken('a generation without a state')
  if (state === 'completed') {
    return textIn(record(body)['assets'], 'image') === undefined
      ? broken('a generation without a picture')
      : READY
  }
  if (WAITING.test(state)) return PENDING
  const reason = textIn(body, 'failure_reason') ?? state
  return MODERATED.test(reason) ? refused(reason, 'none') : failed(reason)
}

/** An image that its checker flagged comes blackened, and is charged. */
export function readFal(body: unknown): Reading {
  const fields = record(body)
  const flags = fields['has_nsfw_concepts'] ?? fields['nsfw_content_detected']
  const allFlagged = Array.isArray(flags) && flags.length > 0 && flags.every((flag) => flag === true)
  return allFlagged ? refused('Every picture was flagged by its safety checker.', 'unknown') : READY
}

export function readBedrock(body: unknown): Reading {
  const { status, images, error, details } = record(body)
  if (status === 'Request Moderated') {
    const reasons = record(details)['Moderation Reasons']
    return refused(Array.isArray(reasons) ? `${status}: ${reasons.join(', ')}` : status, 'none')
  }
  if (Array.isArray(images) && images.length > 0) return READY
  const reason = typeof error === 'string' ? error : 'it made no picture'
  return MODERATED.test(reason) || /polic|filter/i.test(reason)
    ? refused(reason, 'unknown')
    : broken(`an answer without a picture: ${reason}`)
}

/** Withheld images come beside the others; for one of them, the package would drop all. */
export function readXai(body: unknown): Reading {
  const { data } = record(body)
  if (!Array.isArray(data)) return READY
  const given = data.filter((image) => record(image)['respect_moderation'] !== false)
  if (given.length === data.length) return READY
  if (given.length === 0) return refused('Every picture was held back by its moderation.', 'unknown')
  return { state: 'ready', body: { ...record(body), data: given } }
}

const CONTENT_FINISH = /SAFETY|PROHIBITED|RECITATION|BLOCKLIST|SPII/

export function readGemini(body: unknown): Reading {
  const { candidates, promptFeedback } = record(body)
  const all = Array.isArray(candidates) ? candidates.map(record) : []
  if (hasGeminiPicture(all)) return READY
  const blockReason = textIn(promptFeedback, 'blockReason')
  if (blockReason !== undefined) return refused(`The prompt was blocked: ${blockReason}.`, 'none')
  const finish = all
    .map((candidate) => textIn(candidate, 'finishReason'))
    .find((reason) => reason !== undefined)
  if (finish !== undefined && CONTENT_FINISH.test(finish)) {
    const { imageOutput = 0, textOutput = 0 } = geminiTokens(body)
    return refused(`It ended with ${finish}.`, imageOutput + textOutput > 0 ? 'unknown' : 'none')
  }
  return broken(`an answer without a picture, which ended with ${quoted(finish ?? 'nothing')}`)
}

function hasGeminiPicture(candidates: readonly Readonly<Record<string, unknown>>[]): boolean {
  const parts = candidates.flatMap(({ content }) => listIn(content, 'parts')).map(record)
  return parts.some((part) => isRecord(part['inlineData']) && part['thought'] !== true)
}

type Tokens = ImageUsage['tokens']

/**
 * Thoughts are text and are charged as text, but the package adds them to the image's tokens. Where the kinds
 * of output are not separated, all of it counts as the image, if there is one.
 */
export function geminiTokens(body: unknown): Tokens {
  const hasPicture = hasGeminiPicture(listIn(body, 'candidates').map(record))
  const usage = record(record(body)['usageMetadata'])
  const promptTokens = countOf(usage['promptTokenCount'])
  const thoughts = countOf(usage['thoughtsTokenCount']) ?? 0
  const outputTokens = countOf(usage['candidatesTokenCount'])
  const imageInput = tokensOf(usage['promptTokensDetails'], 'IMAGE') ?? 0
  const imageOutput = tokensOf(usage['candidatesTokensDetails'], 'IMAGE') ?? (hasPicture ? outputTokens : 0)
  const known = promptTokens !== undefined
  return {
    textInput: known ? Math.max(0, promptTokens - imageInput) : undefined,
    imageInput: known ? imageInput : undefined,
    textOutput: outputTokens === undefined ? undefined : outputTokens - (imageOutput ?? 0) + thoughts,
    imageOutput,
    cachedTextInput: known ? (countOf(usage['cachedContentTokenCount']) ?? 0) : undefined,
    cachedImageInput: known ? 0 : undefined,
  }
}

function tokensOf(details: unknown, modality: string): number | undefined {
  if (!Array.isArray(details)) return undefined
  const counts = details.map(record).filter((detail) => detail['modality'] === modality)
  return counts.reduce((sum, detail) => sum + (countOf(detail['tokenCount']) ?? 0), 0)
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

function refused(reason: string, charge: 'none' | 'unknown'): Reading {
  return { state: 'ended', kind: 'contentRefused', reason, charge }
}

/** The upstream's own statement that it failed, which is an answer: nothing is charged for it. */
function failed(reason: string): Reading {
  return { state: 'ended', kind: 'failed', reason, charge: 'none' }
}

function broken(reason: string): Reading {
  return { state: 'ended', kind: 'broken', reason, charge: 'unknown' }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

function listIn(value: unknown, field: string): unknown[] {
  const list = record(value)[field]
  return Array.isArray(list) ? list : []
}

function textIn(value: unknown, field: string): string | undefined {
  const text = record(value)[field]
  return typeof text === 'string' ? text : undefined
}

/** Quotes an upstream's word in a message of ours. */
function quoted(word: string): string {
  return JSON.stringify(word.slice(0, 64))
}
