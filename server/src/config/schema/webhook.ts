/** Receivers of events: of a project, or of the audit. */
import { z } from 'zod'
import { MIN_KEY_LENGTH } from '#core/keys/key.ts'
import { hasCredentials } from './upstream.ts'

const receiver = z.strictObject({
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
})

/** Each event is sent to each of them. */
const MAX_WEBHOOKS = 10

const mustBeHttps = { path: ['url'], error: 'must begin with https: (or write private: true)' }

function isAllowed({ url, private: isPrivate }: z.output<typeof receiver>): boolean {
  return isPrivate || url.startsWith('https:')
}

/** Of a project. */
export const webhooks = z
  .array(
    receiver
      .extend({
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
      .refine(isAllowed, mustBeHttps),
  )
  .max(MAX_WEBHOOKS)
  .default([])

export const audit = z.strictObject({
  webhooks: z
    .array(receiver.refine(isAllowed, mustBeHttps))
    .max(MAX_WEBHOOKS)
    .default([])
    .describe('Where Torana sends each entry of the audit log, in order.'),
})
