/** A backup of everything that the store keeps, as a file. */
import { createReadStream } from 'node:fs'
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import type { Actor } from '#ports/audit.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn } from '../access/caller.ts'
import type { Api } from '../wire/route.ts'

export interface BackupDependencies {
  /** A file on the disk of this node, which is gone once it is discarded. */
  readonly make: (options: { readonly pictures: boolean; readonly actor: Actor }) => Promise<MadeBackup>
}

interface MadeBackup {
  readonly path: string
  readonly discard: () => Promise<void>
}

/** Each reads all of the store and fills the disk. */
const MOST_AT_ONCE = 1
const RETRY_AFTER_MS = 30_000

const backupInput = z
  .strictObject({ pictures: z.boolean().default(false).describe('With the pictures of `ASSETS_URL`.') })
  .meta({ id: 'BackupInput' })

export function registerBackup(api: Api, { make }: BackupDependencies): void {
  let running = 0
  api.post('/backup', {
    config: { permission: 'backup.make' },
    schema: {
      operationId: 'makeBackup',
      summary:
        'All that the store keeps, as one gzip file for `torana restore`. It holds digests of keys, never keys',
      body: backupInput,
      response: {
        200: z.string().describe('The file, streamed.'),
        ...faultAnswers([400, 401, 403, 503]),
      },
    },
    handler: async (request, reply) => {
      if (running >= MOST_AT_ONCE)
        throw new Fault('too_many_exports', 'A backup runs on this node already. Retry.', {
          retryAfterMs: RETRY_AFTER_MS,
        })
      running += 1
      try {
        const { path, discard } = await make({ pictures: request.body.pictures, actor: actorIn(request) })
        const stream = createReadStream(path)
        stream.once('close', () => void discard())
        return await reply
          .header('content-type', 'application/gzip')
          .header('content-disposition', 'attachment; filename="torana-backup.gz"')
          .serializer((body: unknown) => body as string)
          .send(stream as unknown as string)
      } finally {
        running -= 1
      }
    },
  })
}
