/**
 * Typed vectors and OpenAI's SDKs. Unless the application sets `encoding_format`, they ask for base64 on their own and decode
 * whatever string comes back as float32: int8 would become a quarter as many numbers that mean nothing, without an error.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { EmbeddingRequest } from '#core/embedding/request.ts'
import { Fault } from '#core/fault/fault.ts'

/** The first openai-node that is known to leave an array of numbers alone. Earlier ones read its numbers as bytes of float32. */
const SAFE_NODE_SDK = [7, 53] as const

/** The request with the encoding that its client can read. */
export function readableBy(headers: IncomingHttpHeaders, asked: EmbeddingRequest): EmbeddingRequest {
  if (asked.types === undefined || asked.encoding !== 'base64' || !isOpenaiSdk(headers)) return asked
  if (headers['x-stainless-lang'] === 'js' && !isSafe(headers['x-stainless-package-version']))
    throw new Fault(
      'invalid_parameter',
      `This version of openai-node reads every answer to a request without 'encoding_format' as float32, and '${asked.types.field}' asks for another type. Send encoding_format: 'float', which it passes on unchanged.`,
      { param: 'encoding_format' },
    )
  return { ...asked, encoding: 'float' }
}

/** The SDKs of today, and openai-python before version 1. */
function isOpenaiSdk(headers: IncomingHttpHeaders): boolean {
  return headers['x-stainless-lang'] !== undefined || headers['x-openai-client-user-agent'] !== undefined
}

function isSafe(version: string | string[] | undefined): boolean {
  const [major = 0, minor = 0] = String(version).split('.').map(Number)
  const [safeMajor, safeMinor] = SAFE_NODE_SDK
  return major > safeMajor || (major === safeMajor && minor >= safeMinor)
}
