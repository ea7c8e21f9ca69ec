/** The `usage` of an answer as JSON, the same for a route and for the line of a batch. */
import type { TokensByKind } from '../money/usage.ts'

export interface AnswerUsage {
  readonly promptTokens: number
  /** Absent for texts and token ids. */
  readonly byKind?: TokensByKind | undefined
}

export function usageText({ promptTokens, byKind }: AnswerUsage): string {
  const details = byKind === undefined ? '' : `,"prompt_tokens_details":${detailsOf(byKind)}`
  return `{"prompt_tokens":${promptTokens},"total_tokens":${promptTokens}${details}}`
}

/** `{"text_tokens":3,"image_tokens":258}`, the names of OpenRouter. */
function detailsOf(byKind: TokensByKind): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(byKind).map(([kind, tokens]) => [`${kind}_tokens`, tokens])),
  )
}
