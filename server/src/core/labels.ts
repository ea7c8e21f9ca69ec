/**
 * What a caller says a request is for, below its key: `user`, the application's own user, and tags. Both are in the ledger,
 * in the usage reports and in the request log.
 */

export type Tags = Readonly<Record<string, string>>

export interface Labels {
  readonly user?: string | undefined
  /** At least one. */
  readonly tags?: Tags | undefined
}

/** Tags of one request. Each is one more sum that its ledger entry is added to. */
export const MAX_TAGS = 8
/** Characters of a key, as OpenAI bounds the keys of `metadata`. */
export const MAX_TAG_KEY = 64
/** Characters of a value: names and ids fit; a text that a person writes does not. Eight tags stay below two kilobytes. */
export const MAX_TAG_VALUE = 128
/** Characters of `user`. OpenAI allows 64; more is accepted elsewhere, but it must not be a second body. */
export const MAX_USER = 512

/** Undefined: the request says nothing. An empty `user` names no one. */
export function labelsOf({ user, tags }: Labels): Labels | undefined {
  if (tags !== undefined) return user ? { user, tags } : { tags }
  return user ? { user } : undefined
}
