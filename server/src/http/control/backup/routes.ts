/** A backup of everything that the store keeps, as a file. */
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import type { Actor } from '#ports/audit.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn } from '../access/caller.ts'
import type { Api } from '../wire/route.ts'
import { StreamSlots } from '../streams/stream-slots.ts'

export interface BackupDependencies {
  /** A complete backup. Its file on the disk of this node is gone once it is read or destroyed. */
  readonly make: (options: { readonly pictures: boolean; readonly actor: Actor }) => Promise<Readable>
}

/** Each reads all of the store and fills the disk. */
const MOST_AT_ONCE = 1
const RETRY_AFTER_MS = 30_000

const backupInput = z
  .strictObject({ pictures: z.boolean().default(false).describe('With the pictures of `ASSETS_URL`.') })
  .meta({ id: 'BackupInput' })

export function registerBackup(api: Api, { make }: BackupDependencies): void {
  const backups = new StreamSlots({
    slots: MOST_AT_ONCE,
    headroom: Infinity,
    full: () =>
      new Fault('too_many_exports', 'A backup runs on this node already. Retry.', {
        retryAfterMs: RETRY_AFTER_MS,
      }),
  })
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
    handler: async (request, reply) =>
      backups.answer(request, reply, {
        headers: {
          'content-type': 'application/gzip',
          'content-disposition': 'attachment; filename="torana-backup.gz"',
        },
        open: () => make({ pictures: request.body.pictures, actor: actorIn(request) }),
      }),
  })
}
