/** Receivers of a project's events. */
import { z } from 'zod'
import { MIN_KEY_LENGTH } from '#core/keys/key.ts'
import { hasCredentials } from './upstream.ts'

const webhook = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: 'expected a URL such as https://hooks.example.com/torana' })
    .refine((text) => !hasCredentials(text), 'is signed, and needs no credentials in the URL')
    .describe('Where Torana posts events.'),
  secret: z
    .string()
    .refine(
      (text) => text.length >= MIN_KEY_LENGTH,
      `a secret needs ${MIN_KEY_LENGTH} characters or more: short ones can be guessed`,
    )
    .describe('Torana signs events with it: `whsec_` and base64, or any text.'),
  private: z.boolean().default(false).describe('Whether the address may be private, and plain http.'),
  events: z
    .array(
      z.enum([
        'image.job.succeeded',
        'image.job.failed',
        'image.job.unknown',
        'batch.completed',
        'batch.failed',
        'batch.expired',
        'batch.cancelled',
        'budget.reached',
        'space.suspect',
      ]),
    )
    .min(1)
    .optional()
    .describe('Which events. Default: all.'),
})

/** Each event is sent to each of them. */
const MAX_WEBHOOKS = 10

export const webhooks = z
  .array(
    webhook.refine(({ url, private: isPrivate }) => isPrivate || url.startsWith('https:'), {
      path: ['url'],
      error: 'must begin with https: (or write private: true)',
    }),
  )
  .max(MAX_WEBHOOKS)
  .default([])
