/** `ledger` of torana.yaml. */
import { z } from 'zod'
import { MIN_KEEP_DAYS } from '#core/settings.ts'

/** A century. */
const MAX_KEEP_DAYS = 36_500

export const ledger = z
  .strictObject({
    export: z
      .boolean()
      .optional()
      .describe(
        'Whether each sealed day of the ledger is written to `ASSETS_URL` as Parquet files. Default: `true` where that is a bucket, or `keepDays` is set.',
      ),
    keepDays: z
      .union([z.literal('forever'), z.int().min(MIN_KEEP_DAYS).max(MAX_KEEP_DAYS)])
      .default('forever')
      .describe(
        `Days of the ledger that PostgreSQL keeps, at least ${MIN_KEEP_DAYS}. Older days are dropped once their files were read back and agree; sums by day stay. Default \`forever\`.`,
      ),
  })
  .refine(({ export: isExported, keepDays }) => isExported !== false || keepDays === 'forever', {
    path: ['keepDays'],
    error: 'needs the export: only days that are in the bucket are dropped',
  })
