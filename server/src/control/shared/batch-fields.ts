/** Fields of batches that several features have. */
import { z } from 'zod'

export const batchState = z.enum(['in_progress', 'cancelling', 'completed', 'failed', 'expired', 'cancelled'])
