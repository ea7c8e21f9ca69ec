/**
 * The purpose of a request as its caller labels it, below its key: `user`, the application's own user, and tags. Both are
 * in the ledger, in the usage reports and in the request log.
 */

export type Tags = Readonly<Record<string, string>>

export interface Labels {
  readonly user?: string | undefined
  /** At least one. */
  readonly tags?: Tags | undefined
}

/** Tags of one request. Each is one more sum to which its ledger entry is added. */
export const MAX_TAGS = 8
/** Characters of a key, as OpenAI bounds the keys of `metadata`. */
export const MAX_TAG_KEY = 64
/** Characters of a value: names and ids fit; prose does not. Eight tags stay below two kilobytes. */
export const MAX_TAG_VALUE = 128
/** Characters of `user`. OpenAI allows 64; more is accepted elsewhere, but it must not be a second body. */
export const MAX_USER = 512
/** Values of one label that are counted separately, per project and day: as many as a page of usage can list. */
export const MAX_LABEL_VALUES = 1000
/** Keys of tags that are counted separately, per project and day: twice as many as one request can have. */
export const MAX_TAG_KEYS = 2 * MAX_TAGS

/** Undefined when the request has no label. An empty `user` names no one. */
export function labelsOf({ user, tags }: Labels): Labels | undefined {
  if (tags !== undefined) return user ? { user, tags } : { tags }
  return user ? { user } : undefined
}
