/** Where a project gets its events. */
import { z } from 'zod'
import { MIN_KEY_LENGTH } from '#core/keys/key.ts'
import { hasCredentials } from './upstream.ts'

export const webhook = z
  .strictObject({
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
          'model.ending',
        ]),
      )
      .min(1)
      .optional()
      .describe('Which events. Default: all.'),
    private: z.boolean().default(false).describe('Whether the address may be private, and plain http.'),
  })
  .refine(({ url: address, private: isPrivate }) => isPrivate || address.startsWith('https:'), {
    path: ['url'],
    error: 'must begin with https: (or write private: true)',
  })
