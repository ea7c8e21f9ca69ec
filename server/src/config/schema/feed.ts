import { z } from 'zod'
import { hasCredentials } from './upstream.ts'

/** The form of a public key that signs feeds: `ed25519:` and 32 bytes in base64. */
const FEED_KEY = /^ed25519:[A-Za-z0-9+/]{43}=$/
/** Keys of mirrors and of one's own feeds: each pull checks all of them. */
const MAX_FEED_KEYS = 20

export const feed = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .refine((text) => !hasCredentials(text), 'is public, and needs no credentials in the URL')
    .optional()
    .describe(
      'Where `torana catalog diff` and `pull` find the feed unless they name another source. It may be private, and plain http: the signature protects the content.',
    ),
  keys: z
    .array(z.string().regex(FEED_KEY, 'expected ed25519: and 32 bytes in base64'))
    .max(MAX_FEED_KEYS)
    .default([])
    .describe('Public keys whose feeds are trusted, in addition to those of the Torana project.'),
})

export type FeedSettings = z.output<typeof feed>
